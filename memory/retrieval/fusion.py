"""Several rankings made one."""

import numpy as np
from numpy.typing import NDArray

CONSTANT = 10  # ranks beyond it count much alike

Ids = NDArray[np.int64]
Places = NDArray[np.int64]
Shares = NDArray[np.float64]


def fuse_ranks(*rankings: tuple[Ids, Places]) -> tuple[Ids, Shares]:
    """Reciprocal rank fusion: ids, each once in a ranking, best first, with their places in it, from 1 on.

    So is the result, with its scores. Of a long ranking a part is enough, for a place says how many stand before it;
    what one ranking has not, counts nothing there. Ties as first seen.
    """
    ids = np.concatenate([np.empty(0, dtype=np.int64), *(ids for ids, _ in rankings)])
    shares = np.concatenate([np.empty(0), *(1 / (CONSTANT + places) for _, places in rankings)])
    fused, first, of = np.unique(ids, return_index=True, return_inverse=True)
    scores = np.bincount(of, weights=shares, minlength=len(fused))
    order = np.lexsort((first, -scores))
    return fused[order], scores[order]
