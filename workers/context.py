"""What a fact is encoded behind, chosen among the facts stored before it."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from facts.embedding import embedding_model, vector_of
from facts.models import Fact
from facts.selectors import FactRow, earlier_facts

from memory.encoding import ContextStrategy


@dataclass(frozen=True, slots=True)
class Context:
    """Rows in serving order, the best last."""

    rows: tuple[FactRow, ...] = ()

    @property
    def ids(self) -> list[UUID]:
        return [row.id for row in self.rows]

    @property
    def hashes(self) -> dict[UUID, str]:
        return {row.id: row.hash for row in self.rows}

    def last(self, count: int) -> "Context":
        return Context(self.rows[len(self.rows) - count :])


def choose_context(fact: Fact, strategy: ContextStrategy) -> Context:
    """A text stands once, as in a chat: facts of other scopes may say the same as this one or as each other."""
    by_text = {row.hash: row for row in earlier_facts(fact=fact) if row.hash != fact.hash}
    rows = list(by_text.values())
    own = fact.embedding if fact.embedding_model == embedding_model() else None
    chosen = strategy.choose(_vector(own), [_vector(row.vector) for row in rows])
    return Context(tuple(rows[index] for index in chosen))


def _vector(stored: Any) -> np.ndarray[Any, np.dtype[np.float32]] | None:
    return None if stored is None else vector_of(stored)
