"""Finding the facts nearest to a question: sentence embeddings and an exact vector index."""

from memory.retrieval.embedder import Device, Embedder, get_embedder
from memory.retrieval.index import VectorIndex

__all__ = ["Device", "Embedder", "VectorIndex", "get_embedder"]
