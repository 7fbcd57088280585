"""Where a chat's facts stand."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from facts.retrieval import Entry

from memory.prompt import ChatTemplate


@dataclass(frozen=True, slots=True)
class Joined:
    """Facts before the text of the message at `index`, the best last."""

    index: int
    entries: tuple[Entry, ...]


@dataclass(frozen=True, slots=True)
class Layout:
    """In the block that begins the prompt, in its order, and before later messages of the conversation."""

    block: tuple[Entry, ...]
    joined: tuple[Joined, ...] = ()

    @property
    def late(self) -> list[Entry]:
        return [entry for joined in self.joined for entry in joined.entries]

    @property
    def entries(self) -> list[Entry]:
        """In the order of the prompt."""
        return [*self.block, *self.late]

    @property
    def fact_ids(self) -> tuple[UUID, ...]:
        return tuple(entry.fact_id for entry in self.entries)

    def with_joined(self, template: ChatTemplate, messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """The chat with the facts that joined it; the block is left to whoever composes the prompt."""
        chat = [dict(message) for message in messages]
        for joined in self.joined:
            chat[joined.index] = template.join(chat[joined.index], [entry.line for entry in joined.entries])
        return chat
