"""The order of `rank_facts` among facts that are not kept: they pass in batches, and what may be the best stays."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple
from uuid import UUID

import numpy as np

from facts.retrieval.ranking import Placed, Scores, Vector, place_facts
from facts.selectors import VectorRow
from memory.retrieval import VectorIndex


class Passed(NamedTuple):
    """`placed` best first; `unscored` have no vector, the newest first."""

    placed: list[tuple[UUID, Placed]]
    unscored: list[UUID]


def rank_batches(
    batches: Iterable[Sequence[VectorRow]],
    *,
    query: Vector,
    most: int,
    by_words: Sequence[VectorRow] = (),
    threshold: float = -1.0,
) -> Passed:
    """At most `most` of each kind. `by_words`: those of the facts that have words of the question, best first."""
    awaited = _Awaited(*_score(by_words, query, threshold))
    best, unscored = list[tuple[UUID, float]](), list[VectorRow]()
    for rows in batches:
        fact_ids, scores = _score(rows, query, threshold)
        awaited.look(fact_ids, scores)
        best += zip(fact_ids[:most], scores[:most].tolist(), strict=True)
        best = sorted(best, key=lambda one: one[1], reverse=True)[:most]
        unscored += (row for row in rows if not _has_vector(row, query))
        unscored = sorted(unscored, key=lambda row: row.created_at)[-most:]
    places = awaited.places() | {fact_id: (place, score) for place, (fact_id, score) in enumerate(best, start=1)}
    kept = sorted(places, key=lambda fact_id: places[fact_id])
    number_of = {fact_id: number for number, fact_id in enumerate(kept)}
    placed = place_facts(
        np.arange(len(kept)),
        np.array([places[fact_id][1] for fact_id in kept], dtype=np.float32),
        np.array([places[fact_id][0] for fact_id in kept], dtype=np.int64),
        with_words=np.array([number_of[row.fact_id] for row in by_words if row.fact_id in places], dtype=np.int64),
        most=most,
    )
    return Passed([(kept[one.number], one) for one in placed], [row.fact_id for row in reversed(unscored)])


class _Awaited:
    """Facts whose scores are known before they pass, and how many that passed stand ahead of each.

    Of equal scores the first to pass stands ahead.
    """

    def __init__(self, fact_ids: Sequence[UUID], scores: Scores) -> None:
        self._scores, self._numbers = scores, {fact_id: number for number, fact_id in enumerate(fact_ids)}
        self._ahead = np.zeros(len(scores), dtype=np.int64)
        self._has_passed = np.zeros(len(scores), dtype=np.bool_)

    def look(self, fact_ids: Sequence[UUID], scores: Scores) -> None:
        """A batch, best first."""
        higher, as_high = (np.searchsorted(-scores, -self._scores, side=side) for side in ("left", "right"))
        self._ahead += np.where(self._has_passed, higher, as_high)
        for place, fact_id in enumerate(fact_ids):
            if (number := self._numbers.get(fact_id)) is not None:
                self._ahead[number] += place - as_high[number]
                self._has_passed[number] = True

    def places(self) -> dict[UUID, tuple[int, float]]:
        """Place, from 1 on, and score of those that passed."""
        rows = zip(self._numbers, self._has_passed, self._ahead.tolist(), self._scores.tolist(), strict=True)
        return {fact_id: (ahead + 1, score) for fact_id, has_passed, ahead, score in rows if has_passed}


def _score(rows: Sequence[VectorRow], query: Vector, threshold: float) -> tuple[list[UUID], Scores]:
    """Those that reach the threshold, best first, and their scores."""
    with_vector = [row for row in rows if _has_vector(row, query)]
    index = VectorIndex(len(query))
    vectors = b"".join(row.vector or b"" for row in with_vector)
    index.upsert(range(len(with_vector)), np.frombuffer(vectors, dtype="<f4").reshape(-1, len(query)))
    numbers, scores = index.rank(query)
    reached = int(np.count_nonzero(scores >= threshold))
    return [with_vector[number].fact_id for number in numbers[:reached].tolist()], scores[:reached]


def _has_vector(row: VectorRow, query: Vector) -> bool:
    return row.vector is not None and len(row.vector) == 4 * len(query)
