"""What a chat adds to memory: the user's messages since the last answer, and the answer."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4, uuid5

import msgspec
from facts.inputs import Message
from facts.scopes import Scopes
from facts.truth import says_something

MAX_CHARACTERS = 8 * 1024  # of a turn, whose text may have 32 KB


@dataclass(frozen=True, slots=True)
class Conversation:
    """`turns`: role and text of each. `event_id` names it: of two that are alike, the first is stored."""

    tenant_id: UUID
    scopes: Scopes
    turns: tuple[tuple[str, str], ...]
    said_at: datetime
    event_id: UUID
    actor: str

    def answered(self, answer: str) -> "Conversation":
        return replace(self, turns=(*self.turns, *_turns("assistant", [answer])))

    @property
    def messages(self) -> list[Message]:
        return [Message(role, text) for role, text in self.turns]


def conversation_of(
    messages: Sequence[Mapping[str, Any]],
    *,
    tenant_id: UUID,
    key_id: UUID,
    actor: str,
    scopes: Scopes,
    said_at: datetime,
    request_name: str,
) -> Conversation | None:
    """Still without the answer; None when the user said nothing.

    `request_name`: what the client calls its request, '' for nothing. The same messages under the same name are the
    same conversation, whatever they are answered.
    """
    turns = _turns("user", new_texts(messages))
    if not turns:
        return None
    named = msgspec.json.encode([request_name, scopes.named, len(messages), turns]).decode()
    event_id = uuid5(key_id, named) if request_name else uuid4()
    return Conversation(tenant_id, scopes, turns, said_at, event_id, actor)


def new_texts(messages: Sequence[Mapping[str, Any]]) -> list[str]:
    """Of the user's messages since the last answer, oldest first. Who calls a tool has not answered yet."""
    texts: list[str] = []
    for message in reversed(messages):
        role = message.get("role")
        if role == "assistant" and not message.get("tool_calls"):
            break
        if role == "user" and (text := _text(message.get("content"))):
            texts.append(text)
    return texts[::-1]


def _text(content: object) -> str:
    """What is text of it: pictures and sounds are not stored."""
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    texts = [part if isinstance(part, str) else part.get("text") for part in parts if isinstance(part, str | Mapping)]
    return "\n".join(text for text in texts if isinstance(text, str))


def _turns(role: str, texts: Iterable[str]) -> tuple[tuple[str, str], ...]:
    """A long text in several turns; those that hold nothing to see are left out."""
    starts = ((text, start) for text in texts for start in range(0, len(text), MAX_CHARACTERS))
    parts = (text[start : start + MAX_CHARACTERS] for text, start in starts)
    return tuple((role, part) for part in parts if says_something(part))
