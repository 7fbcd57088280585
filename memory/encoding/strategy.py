"""Strategies: which lines a fact is encoded behind."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class ContextStrategy(ABC):
    """A context is the encoding header, conversation turns, at most `n` other facts.

    By default only facts stored earlier are chosen among, so that adding one changes nobody's context.
    """

    kind: ClassVar[str]
    version: ClassVar[int]
    packs: ClassVar[bool] = False
    """Whether facts that follow each other may share a pass: their context is then all that stands before them."""
    has_header: ClassVar[bool] = True
    looks_ahead: ClassVar[bool] = False
    """Whether facts stored later are candidates too: those there are when the fact is encoded."""

    n: int
    turns: int = 0
    """How many of the conversation's turns, the last before the one the fact came from, stand before the facts."""

    @property
    def name(self) -> str:
        """Stands in blob keys and encodings: a new version of a strategy encodes everything again."""
        return f"{self.kind}({self.n}){f'+turns({self.turns})' if self.turns else ''}/{self.version}"

    @property
    def turns_read(self) -> int:
        return self.turns

    @abstractmethod
    def choose(self, vector: Vector | None, candidates: Sequence[Vector | None]) -> list[int]:
        """Indices into `candidates` in serving order, the best last.

        `candidates` has the unit vectors [dim] of the other facts, oldest first; None where there is none.
        """


class Turns(ContextStrategy):
    """The conversation as it was before the fact, and no header: what the paper encodes behind."""

    kind = "turns"
    version = 1
    has_header = False

    @property
    def turns_read(self) -> int:
        return self.n

    def choose(self, vector: Vector | None, candidates: Sequence[Vector | None]) -> list[int]:
        return []


class Window(ContextStrategy):
    """The preceding facts: n before the first of a pass, and more before the others of it."""

    kind = "window"
    version = 2
    packs = True

    def choose(self, vector: Vector | None, candidates: Sequence[Vector | None]) -> list[int]:
        return _latest(range(len(candidates)), self.n)


class Neighbours(ContextStrategy):
    """The n facts nearest by cosine; the most recent ones where vectors are missing."""

    kind = "neighbours"
    version = 1

    def choose(self, vector: Vector | None, candidates: Sequence[Vector | None]) -> list[int]:
        if vector is None:
            return _latest(range(len(candidates)), self.n)
        scored = [i for i, other in enumerate(candidates) if other is not None and other.shape == vector.shape]
        nearest = self._nearest(vector, scored, candidates)
        without = sorted(set(range(len(candidates))).difference(scored))
        return _latest(without, self.n - len(nearest)) + nearest

    def _nearest(self, vector: Vector, scored: list[int], candidates: Sequence[Vector | None]) -> list[int]:
        if not scored or not self.n:
            return []
        scores = np.stack([row for i in scored if (row := candidates[i]) is not None]) @ vector
        # Stable: of equally near facts the later one stands nearer.
        order = np.argsort(scores, kind="stable")[-self.n :]
        return [scored[int(position)] for position in order]


class Nearest(Neighbours):
    """The n facts nearest by cosine, stored earlier or later: a later one changes nothing until the next encoding."""

    kind = "nearest"
    version = 1
    looks_ahead = True


def _latest(indices: Sequence[int], count: int) -> list[int]:
    return list(indices[-count:]) if count > 0 else []
