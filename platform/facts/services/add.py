"""Storing facts as they are given."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import tenant_scope

from facts.embedding import embed_texts, embedding_model
from facts.errors import InvalidInputError
from facts.inputs import AddedFact, AddResult, Message
from facts.models import Fact, FactHistory, FactStatus, Owner, Turn
from facts.scopes import Scopes
from facts.services.change import (
    drop_stale_on_commit,
    encode_on_commit,
    event_record,
    owner_locked,
    owner_touch,
    retire,
)
from facts.text import check_metadata, clean_categories, clean_fact_text, text_hash

MAX_MESSAGES = 1000
MAX_ROLE = 32


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
    """Each message's content becomes a fact and a turn; a fact that is there already is returned, not stored twice.

    Raises InvalidInputError and stores nothing when any part cannot be stored.
    """
    texts, roles = _checked_messages(messages)
    details: dict[str, Any] = {
        "metadata": check_metadata(metadata),
        "categories": clean_categories(categories),
        "expires_at": _future(expires_at),
        "immutable": immutable,
        "occurred_at": occurred_at,
        **scopes.named,
    }
    vectors = embed_texts(texts)
    with tenant_scope(tenant), owner_locked(_owner_id(tenant, scopes)) as owner:
        now = timezone.now()
        facts, turns = [], []
        for index, (text, role, vector) in enumerate(zip(texts, roles, vectors, strict=True)):
            moment = now + timedelta(microseconds=index)  # so that facts of one call have an order
            turn = Turn(
                tenant=tenant,
                owner=owner,
                run_id=scopes.run_id,
                role=role,
                content=text,
                occurred_at=occurred_at or moment,
                created_at=moment,
            )
            turns.append(turn)
            facts.append(
                Fact(
                    tenant=tenant,
                    owner=owner,
                    text=text,
                    hash=text_hash(text),
                    source_turn_id=turn.pk,
                    seq=owner.change_seq + index + 1,
                    embedding=vector,
                    embedding_model=embedding_model() if vector else "",
                    created_at=moment,
                    updated_at=moment,
                    **details,
                )
            )
        added = _insert(owner, scopes, facts, now=now, actor=actor)
        created = [entry.fact for entry in added if entry.created]
        _record(tenant, created, turns, actor=actor)
        if created:
            owner_touch(owner, changes=len(facts))
            encode_on_commit(owner, [fact.pk for fact in created])
        results = [{"id": str(entry.fact.pk), "event": entry.event} for entry in added]
        event = event_record(tenant_id=tenant.pk, event_type="ADD", results=results)
    return AddResult(event, added)


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


def _record(tenant: Tenant, created: list[Fact], turns: list[Turn], *, actor: str) -> None:
    kept = {fact.source_turn_id for fact in created}
    Turn.objects.bulk_create([turn for turn in turns if turn.pk in kept])
    FactHistory.objects.bulk_create(
        [
            FactHistory(tenant=tenant, fact_id=fact.pk, new_text=fact.text, event=FactHistory.Kind.ADD, actor=actor)
            for fact in created
        ]
    )


def _owner_id(tenant: Tenant, scopes: Scopes) -> int:
    """Found or made; two that make it at once get the same one."""
    identity = {"tenant": tenant, "kind": scopes.owner_kind, "name": scopes.owner_name}
    owner_id = Owner.objects.filter(**identity).values_list("pk", flat=True).first()
    if owner_id is None:
        Owner.objects.bulk_create([Owner(**identity)], ignore_conflicts=True)
        owner_id = Owner.objects.values_list("pk", flat=True).get(**identity)
    return owner_id


def _checked_messages(messages: Sequence[Message]) -> tuple[list[str], list[str]]:
    if not 0 < len(messages) <= MAX_MESSAGES:
        raise InvalidInputError("messages", f"messages must hold 1 to {MAX_MESSAGES} messages, not {len(messages)}")
    texts = [clean_fact_text(m.content, field=f"messages[{i}].content") for i, m in enumerate(messages)]
    roles = [clean_fact_text(m.role, field=f"messages[{i}].role") for i, m in enumerate(messages)]
    if any(len(role) > MAX_ROLE for role in roles):
        raise InvalidInputError("messages", f"a role must have at most {MAX_ROLE} characters")
    return texts, roles


def _future(expires_at: datetime | None) -> datetime | None:
    if expires_at is not None and expires_at <= timezone.now():
        raise InvalidInputError("expiration_date", "expiration_date must lie in the future")
    return expires_at
