"""Which facts a chat uses, worst first."""

from collections.abc import Collection, Sequence
from datetime import datetime
from uuid import UUID

import numpy as np
from facts.scopes import Scopes
from numpy.typing import NDArray

from inference.gateway.snapshot import Entry, Snapshot
from memory.retrieval import fuse_ranks

Vector = NDArray[np.float32]


def choose_facts(
    snapshot: Snapshot,
    *,
    scopes: Scopes,
    query: Vector | None,
    top_k: int,
    now: datetime,
    allowed_ids: Collection[UUID] | None = None,
    by_words: Sequence[UUID] = (),
) -> list[Entry]:
    """At most `top_k` facts, the worst first; by age when there is no query vector.

    `by_words`: facts with words of the question, best first, whose ranks are fused with those of the vectors.

    A fact without a vector cannot lose to others by its score: such facts get up to half of the places, the newest
    first, and more when others leave them free.
    """
    candidates = _candidates(snapshot, scopes, now, allowed_ids)
    if query is None:
        return _newest(candidates.values(), top_k)
    is_all = len(candidates) == len(snapshot.entries)
    compared = len(snapshot.index) if by_words else top_k
    nearest = snapshot.index.search(query, compared, None if is_all else list(candidates))
    found = [number for number, _ in nearest]
    if by_words:
        found = fuse_ranks(found, _ranked(snapshot, by_words, set(found)))
    unscored = [candidates[number] for number in snapshot.unembedded if number in candidates]
    without = _newest(unscored, max(top_k - len(found), (top_k + 1) // 2))
    scored = [candidates[number] for number in found[: top_k - len(without)]]
    return [*without, *reversed(scored)]


def _ranked(snapshot: Snapshot, fact_ids: Sequence[UUID], among: Collection[int]) -> list[int]:
    numbers = map(snapshot.number, fact_ids)
    return [number for number in numbers if number is not None and number in among]


def _candidates(
    snapshot: Snapshot, scopes: Scopes, now: datetime, allowed_ids: Collection[UUID] | None
) -> dict[int, Entry]:
    """The facts that hold now, carry every name asked for and pass the filters."""
    expired = {number for number in snapshot.expiring if _expired(snapshot.entries[number], now)}
    if not expired and allowed_ids is None and len(scopes.named) == 1:  # its one name is the owner's
        return snapshot.entries
    return {
        number: entry
        for number, entry in snapshot.entries.items()
        if number not in expired
        and (allowed_ids is None or entry.fact_id in allowed_ids)
        and _within(entry.scopes, scopes)
    }


def _expired(entry: Entry, now: datetime) -> bool:
    return entry.expires_at is not None and entry.expires_at <= now


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


def _within(fact: Scopes, asked: Scopes) -> bool:
    return all(getattr(fact, name) == value for name, value in asked.named.items())


def _newest(entries: Collection[Entry], count: int) -> list[Entry]:
    """The newest last."""
    return sorted(entries, key=lambda entry: (entry.created_at, entry.number))[-count:] if count > 0 else []
