"""Sessions: a conversation keeps the facts that it began with, so that its history stays in vLLM's prefix cache.

The block of facts is the one of the session's first turn. What a later question finds beyond it joins before that
question, and stays there. A session begins anew, with the facts that the question finds best, when so many have joined
that the block is little of it, or when anything of its owner's memory was changed or erased: nothing that was computed
from it may be used then, so that nothing is lost either.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any
from uuid import UUID

import msgspec
from facts.models import Owner
from facts.retrieval import Entry
from tenants.models import Tenant

from inference.gateway.layout import Joined, Layout
from inference.gateway.options import MemoryOptions
from memory.prompt.messages import last_user_index

LATE_SHARE = 0.5  # of the block's facts
Chat = Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class JoinedIds:
    """Facts that joined the message at `index`; `chat`: the digest of the conversation up to that message."""

    index: int
    chat: str
    fact_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True)
class SessionState:
    """What is kept from turn to turn: ids and digests, no text. It holds while the erasure epoch stays."""

    epoch: int
    block: tuple[UUID, ...]
    joined: tuple[JoinedIds, ...] = ()

    @classmethod
    def of(cls, layout: Layout, messages: Chat, *, epoch: int) -> "SessionState":
        joined = tuple(
            JoinedIds(group.index, _chat_digest(messages, group.index), _ids(group.entries)) for group in layout.joined
        )
        return cls(epoch, _ids(layout.block), joined)

    @property
    def fact_ids(self) -> list[UUID]:
        return [*self.block, *(fact_id for group in self.joined for fact_id in group.fact_ids)]


def session_key(
    tenant: Tenant, owner: Owner, options: MemoryOptions, messages: Chat, *, fingerprint: str
) -> str | None:
    """Names the session among all tenants' and owners'; None when the chat keeps nothing.

    Without a name of its own a session is known by what was said before the first answer. All that the choice of facts
    depends on is part of it: who changes the model, the strategy or the filters begins another session.
    """
    if options.order == "random":
        return None
    named = options.session_id or options.scopes.run_id
    how = [tenant.strategy, fingerprint, options.top_k, options.threshold, options.rerank, options.filters]
    whose = [str(tenant.pk), owner.pk, options.scopes.named]
    which = ["named", named] if named else ["opened", _digest(_opening(messages))]
    return f"session:{_digest([*whose, *how, *which])}"


def is_opening(options: MemoryOptions, messages: Chat) -> bool:
    """Whether a conversation without a name begins here: one that began with the same words is another."""
    return not (options.session_id or options.scopes.run_id or len(_opening(messages)) < len(messages))


def continue_session(
    state: SessionState, known: Mapping[UUID, Entry], chosen: Sequence[Entry], messages: Chat, *, epoch: int
) -> Layout | None:
    """The session's facts with those `chosen` (worst first) that it has not; None when it has to begin anew.

    `known`: those of its facts that may be used now. Where the client changed the conversation, what had joined it
    there has gone with it.
    """
    newest = last_user_index(messages)
    if newest is None or state.epoch != epoch or any(fact_id not in known for fact_id in state.fact_ids):
        return None
    standing = takewhile(
        lambda group: group.index <= newest and group.chat == _chat_digest(messages, group.index), state.joined
    )
    joined = {group.index: tuple(known[fact_id] for fact_id in group.fact_ids) for group in standing}
    block = tuple(known[fact_id] for fact_id in state.block)
    lines = {entry.line for entry in (*block, *(entry for entries in joined.values() for entry in entries))}
    if found := tuple(entry for entry in chosen if entry.line not in lines):
        joined[newest] = (*joined.get(newest, ()), *found)
    layout = Layout(block, tuple(Joined(index, entries) for index, entries in joined.items()))
    return layout if len(layout.late) <= LATE_SHARE * len(block) else None


def _ids(entries: Sequence[Entry]) -> tuple[UUID, ...]:
    return tuple(entry.fact_id for entry in entries)


def _opening(messages: Chat) -> Chat:
    """What was said before the first answer."""
    return list(takewhile(lambda message: message.get("role") != "assistant", messages))


def _chat_digest(messages: Chat, index: int) -> str:
    return _digest(messages[: index + 1])


def _digest(content: object) -> str:
    return hashlib.blake2b(msgspec.json.encode(content, order="sorted"), digest_size=16).hexdigest()
