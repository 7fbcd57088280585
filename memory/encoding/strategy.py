"""Strategies: which earlier facts a fact is encoded behind."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ContextStrategy(ABC):
    """Chooses at most `n` earlier facts. Earlier ones only, so that adding a fact changes nobody's context."""

    kind: ClassVar[str]
    version: ClassVar[int]
    packs: ClassVar[bool] = False
    """Whether facts that follow each other may share a pass: their context is then all that stands before them."""
    n: int

    @property
    def name(self) -> str:
        """Stands in blob keys and encodings: a new version of a strategy encodes everything again."""
        return f"{self.kind}({self.n})/{self.version}"

    @abstractmethod
    def choose(self, vector: Vector | None, earlier: Sequence[Vector | None]) -> list[int]:
        """Indices into `earlier` in serving order, the best last.

        `earlier` has the unit vectors [dim] of the facts before this one, oldest first; None where there is none.
        """


class Window(ContextStrategy):
    """The preceding facts: n before the first of a pass, and more before the others of it."""

    kind = "window"
    version = 2
    packs = True

    def choose(self, vector: Vector | None, earlier: Sequence[Vector | None]) -> list[int]:
        return _latest(range(len(earlier)), self.n)


class Neighbours(ContextStrategy):
    """The n facts nearest by cosine; the most recent ones where vectors are missing."""

    kind = "neighbours"
    version = 1

    def choose(self, vector: Vector | None, earlier: Sequence[Vector | None]) -> list[int]:
        if vector is None:
            return _latest(range(len(earlier)), self.n)
        scored = [i for i, other in enumerate(earlier) if other is not None and other.shape == vector.shape]
        nearest = self._nearest(vector, scored, earlier)
        without = sorted(set(range(len(earlier))).difference(scored))
        return _latest(without, self.n - len(nearest)) + nearest

    def _nearest(self, vector: Vector, scored: list[int], earlier: Sequence[Vector | None]) -> list[int]:
        if not scored or not self.n:
            return []
        scores = np.stack([row for i in scored if (row := earlier[i]) is not None]) @ vector
        # Stable: of equally near facts the later one stands nearer.
        order = np.argsort(scores, kind="stable")[-self.n :]
        return [scored[int(position)] for position in order]


def _latest(indices: Sequence[int], count: int) -> list[int]:
    return list(indices[-count:]) if count > 0 else []
