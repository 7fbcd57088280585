"""The one order in which chats and searches find facts: by vectors and by words, both ranks fused."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from facts.retrieval.snapshot import Entry, Snapshot
from facts.scopes import Scopes
from memory.retrieval import fuse_ranks

Vector = NDArray[np.float32]
Scores = NDArray[np.float32]
Ids = NDArray[np.int64]
Places = NDArray[np.int64]
Candidates = Mapping[int, Entry]
"""Entries of a snapshot by their numbers."""


class Ranked(NamedTuple):
    """`score` is the cosine with the query, `rank` the place that it gives, `word_rank` that of the words, from 1 on.

    `fused` makes the order: the shares of both places, of the one alone where no word was found (`word_rank` None).
    Of those that a reranker saw, `relevance` makes it.
    """

    entry: Entry
    score: float
    rank: int
    word_rank: int | None
    fused: float
    relevance: float | None = None


class Placed(NamedTuple):
    """The same of a fact known by its number alone."""

    number: int
    score: float
    rank: int
    word_rank: int | None
    fused: float

    def of(self, entry: Entry) -> Ranked:
        return Ranked(entry, self.score, self.rank, self.word_rank, self.fused)


def candidates_of(
    snapshot: Snapshot, *, scopes: Scopes, now: datetime | None, allowed_ids: Collection[UUID] | None = None
) -> Candidates:
    """The facts that hold at `now` (None: expired ones too), carry every name asked for and are allowed."""
    expired = set[int]() if now is None else {n for n in snapshot.expiring if _expired(snapshot.entries[n], now)}
    if allowed_ids is not None:
        numbers: Iterable[int] = (n for fact_id in allowed_ids if (n := snapshot.number(fact_id)) is not None)
    elif not expired and len(scopes.named) < 2:  # its one name is the owner's
        return snapshot.entries
    else:
        numbers = snapshot.entries
    entries = snapshot.entries
    return {n: entries[n] for n in numbers if n not in expired and _within(entries[n].scopes, scopes)}


def rank_facts(
    snapshot: Snapshot,
    candidates: Candidates,
    *,
    query: Vector,
    most: int,
    by_words: Sequence[UUID] = (),
    threshold: float = -1.0,
) -> list[Ranked]:
    """The best `most` candidates that have a vector and whose cosine reaches `threshold`, best first.

    `by_words`: facts with words of the question, best first, whose ranks are fused with those of the vectors: words
    move a fact up, but none below the threshold in.
    """
    allowed = None if len(candidates) == len(snapshot.entries) else list(candidates)
    ids, scores = snapshot.index.rank(query, allowed)
    reached = int(np.count_nonzero(scores >= threshold))
    ids, scores = ids[:reached], scores[:reached]
    numbers = np.array([n for fact_id in by_words if (n := snapshot.number(fact_id)) is not None], dtype=np.int64)
    numbers = numbers[np.isin(numbers, ids)]
    kept = np.flatnonzero((np.arange(reached) < most) | np.isin(ids, numbers))  # no other can be among the best
    placed = place_facts(ids[kept], scores[kept], kept + 1, with_words=numbers, most=most)
    return [one.of(candidates[one.number]) for one in placed]


def place_facts(ids: Ids, scores: Scores, places: Places, *, with_words: Ids, most: int) -> list[Placed]:
    """The best `most` by both ranks: `places` among all by the scores, and the order of those `with_words`."""
    word_places = np.arange(1, len(with_words) + 1)
    found, shares = fuse_ranks((ids, places), (with_words, word_places))
    score_of, place_of = (dict(zip(ids.tolist(), values.tolist(), strict=True)) for values in (scores, places))
    word_place_of = dict(zip(with_words.tolist(), word_places.tolist(), strict=True))
    return [
        Placed(number, score_of[number], place_of[number], word_place_of.get(number), share)
        for number, share in zip(found[:most].tolist(), shares[:most].tolist(), strict=True)
    ]


def unscored_facts(snapshot: Snapshot, candidates: Candidates) -> list[Entry]:
    """Those without a vector, which cannot lose to others by their score."""
    return [candidates[number] for number in snapshot.unembedded if number in candidates]


def newest(entries: Collection[Entry], count: int) -> list[Entry]:
    """The newest last."""
    return sorted(entries, key=lambda entry: (entry.created_at, entry.number))[-count:] if count > 0 else []


def _expired(entry: Entry, now: datetime) -> bool:
    return entry.expires_at is not None and entry.expires_at <= now


def _within(fact: Scopes, asked: Scopes) -> bool:
    return all(getattr(fact, name) == value for name, value in asked.named.items())
