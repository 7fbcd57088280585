"""The forward pass of a sentence-transformers model: in torch, on whatever device the model is."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from sentence_transformers import SentenceTransformer
from sentence_transformers.util import batch_to_device

Features = dict[str, Any]
Vectors = NDArray[np.float32]


class Forward(Protocol):
    """Any thread may call."""

    def run(self, batches: Sequence[Features]) -> list[Vectors]:
        """For each batch of the model's `preprocess`, float32 [texts, dim] of any length."""


class TorchForward:
    def __init__(self, model: SentenceTransformer) -> None:
        self._model = model

    def run(self, batches: Sequence[Features]) -> list[Vectors]:
        return [self._run(features) for features in batches]

    def _run(self, features: Features) -> Vectors:
        with torch.inference_mode():
            found = self._model(batch_to_device(dict(features), self._model.device))
            vectors: Vectors = found["sentence_embedding"].float().cpu().numpy()
        return vectors


def length_one(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = vectors / np.maximum(lengths, np.finfo(np.float32).tiny)
    return unit
