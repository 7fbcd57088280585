"""How far contexts are from those that would be chosen now."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray


def changed_shares(
    vectors: NDArray[np.float32], rows: Sequence[int], contexts: Sequence[Collection[int]], *, n: int
) -> NDArray[np.float64]:
    """For each of `rows` the share of a context of `n` that would be new: of its nearest others, those not in it.

    `vectors`: [facts, dim] of length 1; a context holds rows of `vectors`. One matrix product for all.
    """
    most = min(n, len(vectors) - 1)
    if most < 1 or not rows:
        return np.zeros(len(rows))
    scores = vectors[list(rows)] @ vectors.T
    scores[np.arange(len(rows)), list(rows)] = -np.inf
    nearest = np.argpartition(scores, -most, axis=1)[:, -most:]
    news = [len(set(near.tolist()).difference(known)) for near, known in zip(nearest, contexts, strict=True)]
    return np.array(news) / n
