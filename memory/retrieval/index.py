"""Exact nearest-neighbour search over one owner's vectors."""

from collections.abc import Sequence
from threading import Lock
from typing import Any

import faiss
import numpy as np
from numpy.typing import NDArray


class VectorIndex:
    """Vectors of `dim` floats under ids from 0 to 2**63 - 1, searched by inner product (the cosine of unit vectors).

    Any thread may call.
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim
        # Any: the stubs of faiss describe its C++ calls, which its Python layer widens to arrays.
        self._index: Any = faiss.IndexIDMap2(faiss.IndexFlatIP(dim))
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

    def search(
        self, vector: NDArray[np.float32], k: int, allowed: Sequence[int] | None = None
    ) -> list[tuple[int, float]]:
        """The k best (id, score), best first, among `allowed` (None: all); fewer only when fewer are there."""
        if vector.shape != (self.dim,):
            raise ValueError(f"a vector of shape {(self.dim,)} expected, got {vector.shape}")
        query = np.ascontiguousarray(vector[None], dtype=np.float32)
        with self._lock:
            k = min(k, len(self) if allowed is None else len(allowed), len(self))
            if k <= 0:
                return []
            scores, ids = self._index.search(query, k, params=None if allowed is None else _only(allowed))
        return [(int(id_), float(score)) for id_, score in zip(ids[0], scores[0], strict=True) if id_ >= 0]


def _only(ids: Sequence[int]) -> faiss.SearchParameters:
    search_parameters: Any = faiss.SearchParameters
    parameters: faiss.SearchParameters = search_parameters(sel=faiss.IDSelectorBatch(np.array(ids, dtype=np.int64)))
    return parameters
