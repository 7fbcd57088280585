"""Sentence vectors of facts and queries. Torch is loaded on first use; without vectors memory still works."""

import logging
from collections.abc import Callable, Sequence
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from django.conf import settings
from numpy.typing import NDArray

if TYPE_CHECKING:
    from memory.retrieval import Embedder

logger = logging.getLogger(__name__)
Vector = NDArray[np.float32]


def embed_texts(texts: Sequence[str], *, model: str) -> list[bytes | None]:
    """float32 little-endian unit vectors, or None for all when the model fails."""
    if not texts:
        return []
    try:
        vectors = _embedder(model).encode(list(texts))
    except Exception:  # a broken model must not lose a fact
        logger.exception("embedding failed, %d texts go without a vector", len(texts))
        return [None] * len(texts)
    return [row.astype("<f4").tobytes() for row in vectors]


def embed_query(text: str, *, model: str) -> Vector | None:
    """None when the model fails."""
    return query_embedding(text, model=model)()


def query_embedding(text: str, *, model: str) -> Callable[[], Vector | None]:
    """Begin to embed the text, beside whatever the caller does next; the call waits for the vector."""
    try:
        future = _embedder(model).submit(text)
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


def query_dim(model: str) -> int | None:
    """Load the model: floats of a vector, None when the model fails."""
    try:
        return _embedder(model).dim
    except Exception:
        logger.exception("the embedding model does not load")
        return None


@cache
def vector_dim(model: str) -> int:
    """Floats of a vector of that model, which is loaded; 1 where that fails, for then there are none to compare."""
    return query_dim(model) or 1


def vector_of(stored: bytes | memoryview) -> Vector:
    return np.frombuffer(stored, dtype="<f4")


def _embedder(model: str) -> "Embedder":
    """The process's own of that model."""
    from memory.models import resolve_embedding_model
    from memory.retrieval import get_embedder

    folder = resolve_embedding_model(model, settings.ENV.home)
    return get_embedder(folder, settings.ENV.embedding_device)
