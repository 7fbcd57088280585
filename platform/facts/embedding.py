"""Sentence vectors of facts and queries. Torch is loaded on first use; without vectors memory still works."""

import logging
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

if TYPE_CHECKING:
    from memory.retrieval import Device, Embedder

logger = logging.getLogger(__name__)
Vector = NDArray[np.float32]


def embedding_model() -> str:
    """Stored beside each vector: vectors of another model are not compared."""
    return settings.ENV.embedding_model


def embed_texts(texts: Sequence[str]) -> list[bytes | None]:
    """float32 little-endian unit vectors, or None for all when the model fails."""
    if not texts:
        return []
    try:
        vectors = _embedder().encode(list(texts))
    except Exception:  # a broken model must not lose a fact
        logger.exception("embedding failed, %d texts go without a vector", len(texts))
        return [None] * len(texts)
    return [row.astype("<f4").tobytes() for row in vectors]


def embed_query(text: str) -> Vector | None:
    """None when the model fails."""
    return query_embedding(text)()


def query_embedding(text: str) -> Callable[[], Vector | None]:
    """Begin to embed the text, beside whatever the caller does next; the call waits for the vector."""
    try:
        future = _embedder().submit(text)
    except Exception:
        logger.exception("the embedding model does not load")
        return lambda: None

    def vector() -> Vector | None:
        try:
            return future.result()
        except Exception:
            logger.exception("embedding failed, a query goes without a vector")
            return None

    return vector


def query_dim(*, device: "Device") -> int | None:
    """Load the model, there unless another device is configured: floats of a vector, None when the model fails."""
    try:
        return _embedder(device).dim
    except Exception:
        logger.exception("the embedding model does not load")
        return None


def vector_of(stored: bytes | memoryview) -> Vector:
    return np.frombuffer(stored, dtype="<f4")


def _embedder(device: "Device" = "cpu") -> "Embedder":
    """The process's own; the first call settles its device."""
    from memory.models import resolve_embedding_model
    from memory.retrieval import get_embedder

    configured = settings.ENV.embedding_device
    folder = resolve_embedding_model(embedding_model(), settings.ENV.home)
    return get_embedder(folder, device if configured == "auto" else configured)
