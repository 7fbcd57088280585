"""The short way to a model's features gives exactly what its own way gives, or is not taken."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from sentence_transformers import SentenceTransformer

from memory.retrieval.features import MULTIPLE, OwnFeatures, ShortFeatures, features_of


@pytest.fixture(scope="module")
def model(embedding_folder: Path) -> SentenceTransformer:
    return SentenceTransformer(str(embedding_folder), device="cpu")


class Shouting(SentenceTransformer):
    """Prepares texts in a way of its own."""

    def preprocess(self, inputs: Sequence[Any], *args: Any, **kwargs: Any) -> dict[str, Any]:
        return super().preprocess([f"{text}!" for text in inputs], *args, **kwargs)


def test_the_short_way_is_taken(model: SentenceTransformer) -> None:
    assert isinstance(features_of(model), ShortFeatures)


@given(texts=st.lists(st.text(max_size=60) | st.just("salt " * 400), min_size=1, max_size=4))
def test_it_gives_what_the_model_s_own_way_gives(model: SentenceTransformer, texts: list[str]) -> None:
    short, own = features_of(model)(texts), OwnFeatures(model)(texts)
    assert short.keys() == own.keys()
    assert all(torch.equal(short[name], own[name]) for name in ("input_ids", "attention_mask", "token_type_ids"))


def test_rows_are_padded_to_few_lengths_and_never_beyond_the_model_s(model: SentenceTransformer) -> None:
    lengths = {features_of(model)(["tea " * count])["input_ids"].shape[1] for count in range(1, 300, 7)}
    assert all(length % MULTIPLE == 0 for length in lengths)
    assert max(lengths) == model.max_seq_length == 256


def test_a_length_that_is_no_multiple_is_not_padded_beyond(embedding_folder: Path) -> None:
    model = SentenceTransformer(str(embedding_folder), device="cpu")
    model.max_seq_length = 50
    assert features_of(model)(["tea " * 300])["input_ids"].shape[1] == 50


def test_a_model_that_prepares_texts_its_own_way_keeps_it(embedding_folder: Path) -> None:
    model = Shouting(str(embedding_folder), device="cpu")
    features = features_of(model)
    assert isinstance(features, OwnFeatures)
    assert torch.equal(features(["tea"])["input_ids"], OwnFeatures(model)(["tea"])["input_ids"])


def test_threads_get_their_own_texts(model: SentenceTransformer) -> None:
    features, texts = features_of(model), ["tea " * count for count in range(1, 60)]
    expected = [features([text])["input_ids"] for text in texts]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda text: features([text])["input_ids"], texts))
    assert all(torch.equal(ours, theirs) for ours, theirs in zip(found, expected, strict=True))
