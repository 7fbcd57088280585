"""Owners' facts in memory and their order for a question. It brings torch along: import it where it is first needed."""

from facts.retrieval.batches import rank_batches
from facts.retrieval.cache import SnapshotCache
from facts.retrieval.ranking import Candidates, Ranked, candidates_of, newest, rank_facts, unscored_facts
from facts.retrieval.snapshot import Entry, Snapshot

__all__ = [
    "Candidates",
    "Entry",
    "Ranked",
    "Snapshot",
    "SnapshotCache",
    "candidates_of",
    "newest",
    "rank_batches",
    "rank_facts",
    "unscored_facts",
]
