"""Exact nearest-neighbour search over one owner's vectors."""

from collections.abc import Sequence
from threading import Lock
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray

_inner_products: Any = faiss.fvec_inner_products_ny  # type: ignore[attr-defined]  # the stubs lack it


class VectorIndex:
    """Vectors of `dim` floats under ids from 0 to 2**63 - 1, ranked by inner product (the cosine of unit vectors).

    Any thread may call.
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim
        # Any: the stubs of faiss describe its C++ calls, which its Python layer widens to arrays.
        self._flat: Any = faiss.IndexFlatIP(dim)
        self._index: Any = faiss.IndexIDMap2(self._flat)
        self._lock = Lock()

    def __len__(self) -> int:
        return int(self._index.ntotal)

    def upsert(self, ids: Sequence[int], vectors: NDArray[np.float32]) -> None:
        """Add float32 [len(ids), dim]; an id already there takes the new vector, an id given twice the last one."""
        if vectors.shape != (len(ids), self.dim):
            raise ValueError(f"vectors of shape {(len(ids), self.dim)} expected, got {vectors.shape}")
        if any(id_ < 0 for id_ in ids):
            raise ValueError(f"ids must not be negative, got {min(ids)}")
        row_of = {id_: row for row, id_ in enumerate(ids)}
        if not row_of:
            return
        keys = np.fromiter(row_of, dtype=np.int64)
        rows = np.ascontiguousarray(vectors[list(row_of.values())], dtype=np.float32)
        with self._lock:
            self._index.remove_ids(keys)
            self._index.add_with_ids(rows, keys)

    def remove(self, ids: Sequence[int]) -> None:
        """Ids that are not there are ignored."""
        with self._lock:
            self._index.remove_ids(np.array(ids, dtype=np.int64))

    def rank(
        self, vector: NDArray[np.float32], allowed: Sequence[int] | None = None
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """All ids among `allowed` (None: all there are), best first, and their scores. Of equals the first put in.

        On the calling thread alone: on busy cores threads cost more than so small a product.
        """
        query = self._checked(vector)
        with self._lock:
            ids: NDArray[np.int64] = faiss.vector_to_array(self._index.id_map)
            scores = np.empty(len(ids), dtype=np.float32)
            out, rows = faiss.swig_ptr(scores), self._flat.get_xb()
            _inner_products(out, faiss.swig_ptr(query), rows, self.dim, len(ids))
        if allowed is not None:
            kept = np.isin(ids, np.array(allowed, dtype=np.int64))
            ids, scores = ids[kept], scores[kept]
        order = np.argsort(-scores, kind="stable")
        return ids[order], scores[order]

    def _checked(self, vector: NDArray[np.float32]) -> NDArray[np.float32]:
        if vector.shape != (self.dim,):
            raise ValueError(f"a vector of shape {(self.dim,)} expected, got {vector.shape}")
        return np.ascontiguousarray(vector, dtype=np.float32)
