"""Finding the facts nearest to a question: sentence embeddings and an exact vector index."""

from memory.retrieval.embedder import Embedder, get_embedder
from memory.retrieval.index import VectorIndex

__all__ = ["Embedder", "VectorIndex", "get_embedder"]
