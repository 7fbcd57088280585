"""What facts are encoded behind, and which of them in one pass."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from facts.embedding import vector_of
from facts.errors import FactGoneError
from facts.models import Fact, Turn
from facts.selectors import FactRow, earlier_facts, facts_from, other_facts, turns_before

from memory.encoding import ContextStrategy
from memory.prompt import ChatTemplate


@dataclass(frozen=True, slots=True)
class Pass:
    """In the order of its prompt: turns, the last of `context` is the best, the first of `run` leads the pass."""

    context: tuple[FactRow, ...]
    run: tuple[FactRow, ...]
    turns: tuple[Turn, ...] = ()

    def within(self, *, context: int, run: int) -> "Pass":
        """With the last lines of the context, turns and facts, and the first of the run only."""
        facts = min(context, len(self.context))
        turns = self.turns[len(self.turns) - (context - facts) :]
        return Pass(self.context[len(self.context) - facts :], self.run[:run], turns)

    def context_lines(self, template: ChatTemplate) -> list[str]:
        turns = [template.turn_line(turn.role, turn.content) for turn in self.turns]
        return [*turns, *(template.line(row.text) for row in self.context)]

    def before(self, index: int) -> dict[UUID, str]:
        """Hashes of the facts that stand before the run's fact of this index."""
        return {row.id: row.hash for row in (*self.context, *self.run[:index])}


def choose_pass(fact: Fact, strategy: ContextStrategy, *, at_most: int) -> Pass:
    """The fact, its context and, where the strategy packs, the facts behind it, `at_most` in all.

    A text stands once, as in a chat: facts of other scopes may say the same as each other. Raises FactGoneError.
    """
    run = facts_from(fact=fact, limit=at_most if strategy.packs else 1)
    if not run or run[0].id != fact.pk:
        raise FactGoneError(f"memory {fact.pk} was deleted, or has expired")
    candidates = other_facts(fact=fact) if strategy.looks_ahead else earlier_facts(fact=fact)
    rows = list({row.hash: row for row in candidates if row.hash != run[0].hash}.values())
    chosen = strategy.choose(_vector(run[0].vector), [_vector(row.vector) for row in rows])
    context = tuple(rows[index] for index in chosen)
    turns = turns_before(fact=fact, limit=strategy.turns_read) if strategy.turns_read else ()
    return Pass(context, _until_said_again(run, {row.hash for row in context}), tuple(turns))


def _until_said_again(run: list[FactRow], said: set[str]) -> tuple[FactRow, ...]:
    kept = list[FactRow]()
    for row in run:
        if row.hash in said:
            break
        said.add(row.hash)
        kept.append(row)
    return tuple(kept)


def _vector(stored: Any) -> np.ndarray[Any, np.dtype[np.float32]] | None:
    return None if stored is None else vector_of(stored)
