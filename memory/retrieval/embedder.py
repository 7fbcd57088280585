"""Sentence embeddings by a sentence-transformers model."""

from pathlib import Path
from threading import Lock

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from torch.nn.functional import normalize

BATCH = 32

_loaded: dict[str, "Embedder"] = {}
_loading = Lock()


def get_embedder(model_path: str | Path) -> "Embedder":
    """The process's one embedder of that model, loaded at the first call."""
    with _loading:
        if str(model_path) not in _loaded:
            _loaded[str(model_path)] = Embedder(model_path)
        return _loaded[str(model_path)]


class Embedder:
    """Texts to unit vectors; any thread may call. On the CPU, so that it takes no memory from the engine's GPU."""

    def __init__(self, model_path: str | Path) -> None:
        self._model = SentenceTransformer(str(model_path), device="cpu", model_kwargs={"dtype": _dtype()}).eval()
        self._tokenizing = Lock()
        self.dim = self._embed(["The first pass is slow, so it is done here."]).shape[1]

    def encode(self, texts: list[str]) -> NDArray[np.float32]:
        """float32 [len(texts), dim], each row of length 1; a text beyond the model's length is cut there."""
        vectors = np.empty((len(texts), self.dim), dtype=np.float32)
        by_length = sorted(
            range(len(texts)), key=lambda index: len(texts[index])
        )  # so that batches hold little padding
        for start in range(0, len(texts), BATCH):
            rows = by_length[start : start + BATCH]
            vectors[rows] = self._embed([texts[row] for row in rows])
        return vectors

    def _embed(self, texts: list[str]) -> NDArray[np.float32]:
        # The model's own encode() adds about 2 ms a call, a quarter of a short query's time.
        with self._tokenizing:  # a fast tokenizer set to pad cannot be used by two threads
            features = self._model.preprocess(texts)
        with torch.inference_mode():
            vectors: NDArray[np.float32] = normalize(self._model(features)["sentence_embedding"].float()).numpy()
        return vectors


def _dtype() -> torch.dtype:
    """bfloat16 where the processor computes in it: half the time, and cosines move by no more than about 0.002."""
    can = torch.cpu.get_capabilities()
    return torch.bfloat16 if can.get("avx512_bf16") or can.get("amx_bf16") else torch.float32
