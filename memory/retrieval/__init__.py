"""Finding the facts nearest to a question: sentence embeddings, an exact vector index, several rankings made one."""

from memory.retrieval.embedder import Embedder, get_embedder
from memory.retrieval.fusion import fuse_ranks
from memory.retrieval.index import VectorIndex

__all__ = ["Embedder", "VectorIndex", "fuse_ranks", "get_embedder"]
