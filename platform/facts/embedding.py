"""Sentence vectors of facts and queries. Torch is loaded on first use; without vectors memory still works."""

import logging
from collections.abc import Sequence

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

logger = logging.getLogger(__name__)


def embedding_model() -> str:
    """Stored beside each vector: vectors of another model are not compared."""
    return settings.ENV.embedding_model


def embed_texts(texts: Sequence[str]) -> list[bytes | None]:
    """float32 little-endian unit vectors, or None for all when the model fails."""
    vectors = _encode(texts)
    return [None] * len(texts) if vectors is None else [row.astype("<f4").tobytes() for row in vectors]


def embed_query(text: str) -> NDArray[np.float32] | None:
    vectors = _encode([text])
    return None if vectors is None else vectors[0]


def vector_of(stored: bytes | memoryview) -> NDArray[np.float32]:
    return np.frombuffer(stored, dtype="<f4")


def _encode(texts: Sequence[str]) -> NDArray[np.float32] | None:
    if not texts:
        return None
    try:
        from memory.models import resolve_embedding_model
        from memory.retrieval import get_embedder

        folder = resolve_embedding_model(embedding_model(), settings.ENV.home)
        return get_embedder(folder).encode(list(texts))
    except Exception:  # a broken model must not lose a fact
        logger.exception("embedding failed, %d texts go without a vector", len(texts))
        return None
