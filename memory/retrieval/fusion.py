"""Several rankings made one."""

from collections import defaultdict
from collections.abc import Hashable, Sequence
from typing import TypeVar

CONSTANT = 10  # ranks beyond it count much alike
Item = TypeVar("Item", bound=Hashable)


def fuse_ranks(*rankings: Sequence[Item]) -> list[Item]:
    """Reciprocal rank fusion: the best first; what one ranking has not, counts nothing there. Ties as first seen."""
    scores: dict[Item, float] = defaultdict(float)
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            scores[item] += 1 / (CONSTANT + rank)
    return sorted(scores, key=lambda item: -scores[item])
