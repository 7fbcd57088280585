"""What two facts have to do with each other, by rules alone. Pure text: no database, no model."""

from facts.truth.claims import CLAIM_VERSION, claim_key
from facts.truth.compare import Relation, across_runs, compare
from facts.truth.dates import resolve_dates
from facts.truth.grounding import says_something, source_of

__all__ = [
    "CLAIM_VERSION",
    "Relation",
    "across_runs",
    "claim_key",
    "compare",
    "resolve_dates",
    "says_something",
    "source_of",
]
