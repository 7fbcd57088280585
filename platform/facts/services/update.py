"""Changing one fact."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from tenants.scope import tenant_scope

from facts.embedding import embed_texts
from facts.errors import FactDuplicateError, InvalidInputError
from facts.inputs import UNSET, FactUpdate, Unset
from facts.models import Fact, FactHistory, FactStatus, Owner
from facts.services.change import (
    drop_stale_on_commit,
    encode_on_commit,
    event_record,
    fact_locked,
    mark_stale,
    owner_locked,
    owner_touch,
    retire,
)
from facts.text import check_metadata, clean_fact_text, text_hash
from facts.truth import CLAIM_VERSION, claim_key


def fact_update(
    *,
    fact: Fact,
    text: str | None = None,
    metadata: dict[str, Any] | None = None,
    expires_at: datetime | Unset | None = UNSET,
    occurred_at: datetime | Unset | None = UNSET,
    actor: str = "",
) -> Fact:
    """The fact as it is now; metadata is replaced, what is left out stays.

    Raises InvalidInputError on bad input or an immutable fact, FactDuplicateError when another fact says the same,
    FactGoneError when the fact was deleted.
    """
    (changed,) = facts_update(updates=[FactUpdate(fact, text, metadata, expires_at, occurred_at)], actor=actor)
    return changed


def facts_update(*, updates: Sequence[FactUpdate], actor: str = "") -> list[Fact]:
    """All of them or none, in the order given; facts of one tenant. Raises as `fact_update` does."""
    changes = [_checked(update) for update in updates]
    reworded = [i for i, update in enumerate(updates) if changes[i].get("text", update.fact.text) != update.fact.text]
    model = updates[0].fact.tenant.embedding_model if updates else ""
    vectors = dict(zip(reworded, embed_texts([changes[i]["text"] for i in reworded], model=model), strict=True))
    changed: dict[int, Fact] = {}
    with transaction.atomic():
        # In the order of their owners' ids, so that two of these calls never wait for each other.
        for i in sorted(range(len(updates)), key=lambda i: updates[i].fact.owner_id):
            changed[i] = _apply(updates[i].fact, changes[i], vectors.get(i), actor=actor)
    return [changed[i] for i in range(len(updates))]


def _checked(update: FactUpdate) -> dict[str, Any]:
    changes: dict[str, Any] = {}
    if update.text is not None:
        changes["text"] = clean_fact_text(update.text)
    if update.metadata is not None:
        changes["metadata"] = check_metadata(update.metadata)
    if update.expires_at is not UNSET:
        changes["expires_at"] = update.expires_at
    if update.occurred_at is not UNSET:
        changes["occurred_at"] = update.occurred_at
    if not changes:
        raise InvalidInputError("text", "give text, metadata, expiration_date or timestamp to change")
    return changes


def _apply(fact: Fact, changes: dict[str, Any], vector: bytes | None, *, actor: str) -> Fact:
    with tenant_scope(fact.tenant), owner_locked(fact.owner_id) as owner:
        current = fact_locked(fact.pk)
        if current.immutable:
            raise InvalidInputError("immutable", "this memory is immutable: delete it and add another")
        changes = {name: value for name, value in changes.items() if getattr(current, name) != value}
        if not changes:
            return current
        seq = owner_touch(owner, erases=True)
        old_text = current.text
        if "text" in changes:
            _make_room(owner, current, text_hash(changes["text"]), seq=seq, actor=actor)
            changes |= {
                "hash": text_hash(changes["text"]),
                "claim_key": claim_key(changes["text"]),
                "claim_version": CLAIM_VERSION,
                "embedding": vector,
                "embedding_model": fact.tenant.embedding_model if vector else "",
            }
        _save(current, changes, seq=seq)
        FactHistory.objects.create(
            tenant_id=current.tenant_id,
            fact_id=current.pk,
            old_text=old_text,
            new_text=current.text,
            event=FactHistory.Kind.UPDATE,
            actor=actor,
        )
        results = [{"id": str(current.pk), "event": "UPDATE"}]
        event_record(tenant_id=current.tenant_id, event_type="UPDATE", results=results)
        if "text" in changes:
            stale = mark_stale(owner, [current.pk], seq=seq)
            encode_on_commit(owner, [current.pk, *stale.dependents])
        drop_stale_on_commit(owner)
    return current


def _save(fact: Fact, changes: dict[str, Any], *, seq: int) -> None:
    for name, value in changes.items():
        setattr(fact, name, value)
    fact.seq, fact.updated_at = seq, timezone.now()
    try:
        with transaction.atomic():
            fact.save(update_fields=[*changes, "seq", "updated_at"])
    except IntegrityError as error:
        raise FactDuplicateError("text", "another memory of the same scopes has this text") from error


def _make_room(owner: Owner, fact: Fact, new_hash: str, *, seq: int, actor: str) -> None:
    """An expired fact of the same text and scopes must not stand in the way."""
    twins = Fact.objects.filter(owner=owner, status=FactStatus.ACTIVE, hash=new_hash, **_scopes(fact))
    expired = list(twins.filter(expires_at__lte=timezone.now()).exclude(pk=fact.pk))
    if expired:
        encode_on_commit(owner, retire(owner, expired, seq=seq, actor=actor).dependents)


def _scopes(fact: Fact) -> dict[str, str]:
    return {"user_id": fact.user_id, "agent_id": fact.agent_id, "app_id": fact.app_id, "run_id": fact.run_id}
