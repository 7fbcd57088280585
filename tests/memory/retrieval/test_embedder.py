"""Embeddings are unit vectors whose angles follow meaning, however the texts are handed over."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from memory.retrieval import Embedder, get_embedder

ROUNDING = 4e-3  # in bfloat16 a sum depends on what else is in the batch
TEXTS = ["A dog sleeps on the sofa.", "rain", "The train to Lisbon leaves at nine. " * 8, "", "🙂", "Ünï"] * 12


def test_vectors_have_length_one(embedder: Embedder) -> None:
    vectors = embedder.encode(TEXTS)
    assert vectors.shape == (len(TEXTS), 384)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_like_sentences_are_closer_than_unlike_ones(embedder: Embedder) -> None:
    dog, puppy, tax = embedder.encode(["The dog is asleep.", "A puppy is sleeping.", "Taxes are due in April."])
    assert dog @ puppy > dog @ tax + 0.4


def test_a_batch_gives_what_single_calls_give_in_the_same_order(embedder: Embedder) -> None:
    singles = np.concatenate([embedder.encode([text]) for text in TEXTS])
    np.testing.assert_allclose(embedder.encode(TEXTS), singles, atol=ROUNDING)


def test_no_texts_give_no_rows(embedder: Embedder) -> None:
    assert embedder.encode([]).shape == (0, 384)


def test_a_text_beyond_the_model_s_length_is_cut(embedder: Embedder) -> None:
    long, longer = embedder.encode(["salt " * 1000, "salt " * 5000])
    np.testing.assert_allclose(long, longer, atol=1e-5)


def test_threads_get_their_own_texts_vectors(embedder: Embedder) -> None:
    expected = embedder.encode(TEXTS)
    with ThreadPoolExecutor(8) as pool:
        rows = list(pool.map(lambda text: embedder.encode([text])[0], TEXTS))
    np.testing.assert_allclose(np.stack(rows), expected, atol=ROUNDING)


def test_queries_that_come_together_get_their_own_vectors(embedder: Embedder) -> None:
    futures = [embedder.submit(text) for text in TEXTS]
    rows = np.stack([future.result() for future in futures])
    np.testing.assert_allclose(rows, embedder.encode(TEXTS), atol=ROUNDING)


def test_threads_that_ask_at_once_share_one_embedder(embedding_folder: Path) -> None:
    with ThreadPoolExecutor(4) as pool:
        embedders = list(pool.map(get_embedder, [embedding_folder, str(embedding_folder)] * 2))
    assert len(set(map(id, embedders))) == 1
