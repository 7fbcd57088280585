"""Sentence embeddings by a sentence-transformers model."""

import logging
from collections.abc import Sequence
from concurrent.futures import Future
from pathlib import Path
from threading import Lock
from typing import Literal

import numpy as np
import torch
from sentence_transformers import SentenceTransformer

from memory.retrieval.batching import BatchingQueue
from memory.retrieval.converted import ConversionFailed, ConvertedForward
from memory.retrieval.features import features_of
from memory.retrieval.forward import Forward, TorchForward, Vectors, length_one

logger = logging.getLogger(__name__)
Device = Literal["cpu", "cuda"]
BATCH = 32

_loaded: dict[str, "Embedder"] = {}
_loading = Lock()


def get_embedder(model_path: str | Path, device: Device = "cpu") -> "Embedder":
    """The process's one embedder of that model, loaded at the first call, whose `device` counts."""
    with _loading:
        if str(model_path) not in _loaded:
            _loaded[str(model_path)] = Embedder(model_path, device)
        return _loaded[str(model_path)]


class Embedder:
    """Texts to unit vectors; any thread may call."""

    def __init__(self, model_path: str | Path, device: Device = "cpu") -> None:
        dtype = torch.bfloat16 if device == "cuda" else torch.float32
        self._model = SentenceTransformer(str(model_path), device=device, model_kwargs={"dtype": dtype}).eval()
        self._features = features_of(self._model)  # the model's own encode() adds about 2 ms a call
        self._forward: Forward = TorchForward(self._model) if device == "cuda" else self._on_cpu()
        self.dim: int = self._embed(["The first pass is slow, so it is done here."]).shape[1]
        self._queries = BatchingQueue(self._embed, most=BATCH)

    def encode(self, texts: Sequence[str]) -> Vectors:
        """float32 [len(texts), dim], each row of length 1; a text beyond the model's length is cut there."""
        by_length = sorted(range(len(texts)), key=lambda index: len(texts[index]))  # batches hold little padding
        batches = [by_length[start : start + BATCH] for start in range(0, len(texts), BATCH)]
        features = [self._features([texts[row] for row in rows]) for rows in batches]
        vectors = np.empty((len(texts), self.dim), dtype=np.float32)
        for rows, found in zip(batches, self._forward.run(features), strict=True):
            vectors[rows] = length_one(found)
        return vectors

    def submit(self, query: str) -> "Future[Vectors]":
        """Begin to embed one text, together with whatever else waits; its vector is float32 [dim] of length 1."""
        return self._queries.submit(query)

    def _embed(self, texts: Sequence[str]) -> Vectors:
        (vectors,) = self._forward.run([self._features(texts)])
        return length_one(vectors)

    def _on_cpu(self) -> Forward:
        probe = self._features(["How many?", "How long is a vector, and what is a vector?"])
        other = self._features(["A sentence. " * 9, "A word", "Two words"])
        try:
            return ConvertedForward(self._model, probe, other)
        except ConversionFailed as error:
            logger.warning("the embedding model stays in torch, which is slower: %s", error)
            return TorchForward(self._model)
