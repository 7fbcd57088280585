"""Storing facts as they are given."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import tenant_scope

from facts.embedding import embed_texts
from facts.errors import InvalidInputError
from facts.inputs import AddedFact, AddResult, Message
from facts.models import Fact, FactHistory, FactStatus, Owner, Turn
from facts.scopes import Scopes
from facts.services.change import (
    drop_stale_on_commit,
    encode_on_commit,
    event_record,
    owner_id,
    owner_locked,
    owner_touch,
    retire,
)
from facts.services.quota import check_room, check_stored
from facts.text import check_future, check_metadata, clean_categories, clean_fact_text, text_hash
from facts.truth import CLAIM_VERSION, claim_key

MAX_MESSAGES = 1000
MAX_ROLE = 32


@dataclass(frozen=True, slots=True)
class _Said:
    role: str
    content: str
    facts: tuple[str, ...]
    lists_facts: bool
    said_at: datetime | None
    details: dict[str, Any]


def facts_add(
    *,
    tenant: Tenant,
    scopes: Scopes,
    messages: Sequence[Message],
    metadata: dict[str, Any] | None = None,
    categories: Sequence[str] | None = None,
    expires_at: datetime | None = None,
    immutable: bool = False,
    occurred_at: datetime | None = None,
    actor: str = "",
) -> AddResult:
    """Each message becomes a turn, and its content, or what it lists, facts of that turn.

    A fact that is there already is returned, not stored twice. A turn is kept if it brought a fact, or lists its facts.

    Raises InvalidInputError and stores nothing when any part cannot be stored or the tenant's quota has no room for it.
    """
    said = _checked_messages(messages)
    with tenant_scope(tenant):
        check_room(tenant)
    event_id = uuid4()
    details = _details(metadata, categories, expires_at, immutable) | scopes.named | {"source_event_id": event_id}
    vectors = iter(embed_texts([text for turn in said for text in turn.facts], model=tenant.embedding_model))
    with tenant_scope(tenant), owner_locked(owner_id(tenant, scopes)) as owner:
        now = timezone.now()
        turns, facts = _rows(tenant, owner, said, vectors, now=now, occurred_at=occurred_at, details=details)
        listed = {turn.pk for turn, message in zip(turns, said, strict=True) if message.lists_facts}
        added = _insert(owner, scopes, facts, now=now, actor=actor)
        created = [entry.fact for entry in added if entry.created]
        _record(tenant, created, turns, listed, actor=actor)
        if created:
            owner_touch(owner, changes=len(facts))
            encode_on_commit(owner, [fact.pk for fact in created])
            check_stored(tenant.pk)
        results = [{"id": str(entry.fact.pk), "event": entry.event} for entry in added]
        event_id = details["source_event_id"]
        event = event_record(tenant_id=tenant.pk, event_type="ADD", results=results, event_id=event_id)
    return AddResult(event, added)


def _rows(
    tenant: Tenant,
    owner: Owner,
    said: Sequence[_Said],
    vectors: Iterator[bytes | None],
    *,
    now: datetime,
    occurred_at: datetime | None,
    details: dict[str, Any],
) -> tuple[list[Turn], list[Fact]]:
    """A turn a message and its facts, each a microsecond after the one before: what one call brings has an order."""
    turns, facts = list[Turn](), list[Fact]()
    tick = timedelta(microseconds=1)
    for message in said:
        happened_at = message.said_at or occurred_at
        turn = Turn(
            tenant_id=owner.tenant_id,
            owner=owner,
            event_id=details["source_event_id"],
            run_id=details.get("run_id", ""),
            role=message.role,
            content=message.content,
            occurred_at=happened_at or now,
            created_at=now + tick * len(turns),
        )
        turns.append(turn)
        for text in message.facts:
            vector, moment = next(vectors), now + tick * len(facts)
            fact = Fact(
                tenant_id=owner.tenant_id,
                owner=owner,
                text=text,
                hash=text_hash(text),
                claim_key=claim_key(text),
                claim_version=CLAIM_VERSION,
                source_turn_id=turn.pk,
                seq=owner.change_seq + len(facts) + 1,
                embedding=vector,
                embedding_model=tenant.embedding_model if vector else "",
                occurred_at=happened_at,
                created_at=moment,
                updated_at=moment,
                **{**details, **message.details},
            )
            facts.append(fact)
    return turns, facts


def _insert(owner: Owner, scopes: Scopes, facts: list[Fact], *, now: datetime, actor: str) -> tuple[AddedFact, ...]:
    """The database's constraint decides what is new: a duplicate's row is refused, and the one there is answered."""
    twins = Fact.objects.filter(
        owner=owner,
        status=FactStatus.ACTIVE,
        hash__in=[fact.hash for fact in facts],
        user_id=scopes.user_id,
        agent_id=scopes.agent_id,
        app_id=scopes.app_id,
        run_id=scopes.run_id,
    )
    expired = list(twins.filter(expires_at__lte=now))
    if expired:  # said again, so it holds again: the expired one makes room
        stale = retire(owner, expired, seq=owner_touch(owner, erases=True), actor=actor)
        for fact in facts:
            fact.seq += 1
        encode_on_commit(owner, stale.dependents)
        drop_stale_on_commit(owner)
    Fact.objects.bulk_create(facts, ignore_conflicts=True)
    stored = {fact.hash: fact for fact in twins}
    return tuple(AddedFact(stored[fact.hash], created=stored[fact.hash].pk == fact.pk) for fact in facts)


def _record(tenant: Tenant, created: list[Fact], turns: list[Turn], listed: set[UUID], *, actor: str) -> None:
    kept = listed | {fact.source_turn_id for fact in created}
    Turn.objects.bulk_create([turn for turn in turns if turn.pk in kept])
    FactHistory.objects.bulk_create(
        [
            FactHistory(tenant=tenant, fact_id=fact.pk, new_text=fact.text, event=FactHistory.Kind.ADD, actor=actor)
            for fact in created
        ]
    )


def check_count(messages: Sequence[Message]) -> None:
    """Raises InvalidInputError when there are none, or too many for one call."""
    if not 0 < len(messages) <= MAX_MESSAGES:
        raise InvalidInputError("messages", f"messages must hold 1 to {MAX_MESSAGES} messages, not {len(messages)}")


def _checked_messages(messages: Sequence[Message]) -> list[_Said]:
    check_count(messages)
    return [_checked(message, f"messages[{i}]") for i, message in enumerate(messages)]


def _checked(message: Message, field: str) -> _Said:
    content = clean_fact_text(message.content, field=f"{field}.content")
    role = clean_fact_text(message.role, field=f"{field}.role")
    if len(role) > MAX_ROLE:
        raise InvalidInputError("messages", f"a role must have at most {MAX_ROLE} characters")
    own = message.details
    details = _details(own.metadata, own.categories, own.expires_at, own.immutable) if own else {}
    if message.facts is None:
        return _Said(role, content, (content,), False, message.said_at, details)
    facts = tuple(clean_fact_text(text, field=f"{field}.facts[{i}]") for i, text in enumerate(message.facts))
    return _Said(role, content, facts, True, message.said_at, details)


def _details(
    metadata: dict[str, Any] | None, categories: Sequence[str] | None, expires_at: datetime | None, immutable: bool
) -> dict[str, Any]:
    return {
        "metadata": check_metadata(metadata),
        "categories": clean_categories(categories),
        "expires_at": check_future(expires_at),
        "immutable": immutable,
    }
