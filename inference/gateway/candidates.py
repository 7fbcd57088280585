"""Which facts a chat uses, worst first."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import numpy as np
from facts.retrieval import Candidates, Entry, Ranked, Snapshot, candidates_of, newest, rank_facts, unscored_facts
from facts.scopes import Scopes
from numpy.typing import NDArray

Vector = NDArray[np.float32]
NO_THRESHOLD = -1.0  # no cosine is less


@dataclass(frozen=True, slots=True)
class Found:
    """What there is to choose from. `ranked`: the facts with a score, best first; `unscored`: without a vector, or all
    where there was no query's, the newest last.

    `below`: those below the threshold, best first, as far as others were asked for. `candidates`: how many there are.
    """

    ranked: list[Ranked]
    unscored: list[Entry]
    below: list[Ranked]
    candidates: int


@dataclass(frozen=True, slots=True)
class Choice:
    """`entries`: the facts to use, the worst first; `lost`: others of those `found`, best first, where asked for."""

    found: Found
    entries: list[Entry]
    lost: list[Entry]


def find_facts(
    snapshot: Snapshot,
    *,
    scopes: Scopes,
    query: Vector | None,
    most: int,
    now: datetime,
    allowed_ids: Collection[UUID] | None = None,
    by_words: Sequence[UUID] = (),
    threshold: float | None = None,
    others: int = 0,
) -> Found:
    """At most so many of each kind, and `others` below the threshold.

    `by_words`: facts with words of the question, best first, whose ranks are fused with those of the vectors.
    """
    candidates = candidates_of(snapshot, scopes=scopes, now=now, allowed_ids=allowed_ids)
    if query is None:
        return Found([], newest(candidates.values(), most), [], len(candidates))
    least = NO_THRESHOLD if threshold is None else threshold
    ranked = rank_facts(snapshot, candidates, query=query, most=most, by_words=by_words, threshold=least)
    unscored = newest(unscored_facts(snapshot, candidates), most)
    below = _below(snapshot, candidates, query, least, others) if others and threshold is not None else []
    return Found(ranked, unscored, below, len(candidates))


def choose_facts(found: Found, *, top_k: int, others: int = 0) -> Choice:
    """At most `top_k` facts; by age when there was no query vector, and then whatever the threshold.

    A fact without a vector cannot lose to others by its score: such facts get up to half of the places, the newest
    first, and more when others leave them free. `others`: how many of those left out are told of each kind.
    """
    places = max(top_k - len(found.ranked), (top_k + 1) // 2)
    without, late = found.unscored[-places:], found.unscored[:-places]
    scored = max(0, top_k - len(without))
    entries = [*without, *(one.entry for one in reversed(found.ranked[:scored]))]
    lost = [*(one.entry for one in found.ranked[scored : scored + others]), *late[::-1][:others]]
    return Choice(found, entries, lost)


def _below(snapshot: Snapshot, candidates: Candidates, query: Vector, threshold: float, most: int) -> list[Ranked]:
    every = rank_facts(snapshot, candidates, query=query, most=len(candidates))
    return [one for one in every if one.score < threshold][:most]


def still_usable(
    snapshot: Snapshot,
    fact_ids: Collection[UUID],
    *,
    scopes: Scopes,
    now: datetime,
    allowed_ids: Collection[UUID] | None = None,
) -> dict[UUID, Entry]:
    """Those of these facts that could be chosen."""
    candidates = candidates_of(snapshot, scopes=scopes, now=now, allowed_ids=allowed_ids)
    numbers = ((fact_id, snapshot.number(fact_id)) for fact_id in fact_ids)
    return {fact_id: candidates[n] for fact_id, n in numbers if n is not None and n in candidates}


def without_repeats(chosen: list[Entry]) -> list[Entry]:
    """Equal lines once: the one with KV, else the best."""
    best: dict[str, Entry] = {}
    for entry in reversed(chosen):
        known = best.get(entry.line)
        if known is None or (entry.segment and not known.segment):
            best[entry.line] = entry
    return [entry for entry in chosen if best[entry.line] is entry]


def in_prompt_order(chosen: list[Entry]) -> list[Entry]:
    """Facts with KV stand first, since only a prefix can be injected; both groups keep their order."""
    return [entry for entry in chosen if entry.segment] + [entry for entry in chosen if not entry.segment]
