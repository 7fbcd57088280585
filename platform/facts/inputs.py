"""What services take and give."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from typing import Any, Final, Literal
from uuid import UUID

from facts.models import Encoding, Event, Fact
from facts.text import text_hash


class Unset(Enum):
    """Tells "leave as it is" from None, "take it away"."""

    UNSET = "unset"


UNSET: Final = Unset.UNSET


@dataclass(frozen=True, slots=True)
class Details:
    """What is known of a message's facts beside their text, in place of what is known of the whole call's."""

    metadata: dict[str, Any] = field(default_factory=dict)
    categories: tuple[str, ...] = ()
    expires_at: datetime | None = None
    immutable: bool = False


@dataclass(frozen=True, slots=True)
class Message:
    """A turn of a conversation. `facts`: what it says, a line each; None: its content is the fact itself."""

    role: str
    content: str | None
    facts: tuple[str, ...] | None = None
    said_at: datetime | None = None
    details: Details | None = None


@dataclass(frozen=True, slots=True)
class AddedFact:
    """`created` is False for a fact that was there already."""

    fact: Fact
    created: bool

    @property
    def event(self) -> Literal["ADD", "NONE"]:
        return "ADD" if self.created else "NONE"


@dataclass(frozen=True, slots=True)
class AddResult:
    """One entry a fact, in the messages' order."""

    event: Event
    facts: tuple[AddedFact, ...]


@dataclass(frozen=True, slots=True)
class FactUpdate:
    """What to change of a fact; metadata is replaced, what is left out stays."""

    fact: Fact
    text: str | None = None
    metadata: dict[str, Any] | None = None
    expires_at: datetime | Unset | None = UNSET
    occurred_at: datetime | Unset | None = UNSET


@dataclass(frozen=True, slots=True)
class DeleteResult:
    event: Event
    count: int


@dataclass(frozen=True, slots=True)
class ComingBlob:
    """What an encoding's blob will be called, and the facts and turns it will be computed behind."""

    encoding: Encoding
    key: str
    context: Sequence[UUID] = ()
    turns: Sequence[UUID] = ()


@dataclass(frozen=True, slots=True)
class MadeBlob:
    """An encoding's blob in the store: what it was computed from. `context`: hashes of the texts it stands behind."""

    encoding: Encoding
    key: str
    digest: str
    tokens: int
    bytes: int
    fact_hash: str = ""
    context: Mapping[UUID, str] = field(default_factory=dict)
    turns: Sequence[UUID] = ()


@dataclass(frozen=True, slots=True)
class ExtractionWishes:
    """What a call says about the facts to be found: in words of its own, and in words for what to take and to leave.

    `categories`: those that a fact may have, and what is meant by each.
    """

    instructions: str = ""
    includes: str = ""
    excludes: str = ""
    categories: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FoundFact:
    """What a turn says. `happened_at` is the turn's own time where the turn names none."""

    text: str
    turn_id: UUID
    happened_at: datetime
    categories: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pair:
    """A stored fact and a new one that rules cannot tell apart, as texts; their hashes name them."""

    stored: str
    new: str

    @property
    def hashes(self) -> tuple[str, str]:
        return text_hash(self.stored), text_hash(self.new)
