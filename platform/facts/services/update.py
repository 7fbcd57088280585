"""Changing one fact."""

from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from tenants.scope import tenant_scope

from facts.embedding import embed_texts, embedding_model
from facts.errors import FactDuplicateError, InvalidInputError
from facts.inputs import UNSET, Unset
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
from facts.truth import claim_key


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
    changes: dict[str, Any] = {}
    if text is not None:
        changes["text"] = clean_fact_text(text)
    if metadata is not None:
        changes["metadata"] = check_metadata(metadata)
    if expires_at is not UNSET:
        changes["expires_at"] = expires_at
    if occurred_at is not UNSET:
        changes["occurred_at"] = occurred_at
    if not changes:
        raise InvalidInputError("text", "give text, metadata, expiration_date or timestamp to change")
    vector = embed_texts([changes["text"]])[0] if changes.get("text", fact.text) != fact.text else None

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
                "embedding": vector,
                "embedding_model": embedding_model() if vector else "",
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
