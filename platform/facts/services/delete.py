"""Deleting facts."""

from collections.abc import Collection
from uuid import UUID

from django.db import transaction
from django.db.models import Q
from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import tenant_scope

from facts.errors import FactUnknownError, InvalidInputError
from facts.inputs import DeleteResult
from facts.models import Extraction, Fact, FactStatus, Owner
from facts.scopes import Scopes
from facts.services.change import (
    drop_stale_on_commit,
    encode_on_commit,
    event_record,
    fact_locked,
    owner_locked,
    owner_touch,
    retire,
)
from facts.services.extraction import extractions_call_off


def fact_delete(*, fact: Fact, actor: str = "") -> None:
    """Raises FactGoneError when it was deleted already."""
    with tenant_scope(fact.tenant), owner_locked(fact.owner_id) as owner:
        _retire_all(owner, [fact_locked(fact.pk)], actor=actor)
        results = [{"id": str(fact.pk), "event": "DELETE"}]
        event_record(tenant_id=fact.tenant_id, event_type="DELETE", results=results)


def facts_delete(*, tenant: Tenant, scopes: Scopes, actor: str = "", event_type: str = "DELETE_ALL") -> DeleteResult:
    """All facts, expired ones too, that carry every name given; extractions under way are called off.

    Raises InvalidInputError when no name is given.
    """
    if not scopes.named:
        raise InvalidInputError("user_id", "name at least one of user_id, agent_id, app_id, run_id")
    named = scopes.named
    return _delete_matching(tenant, Q(**named), actor=actor, event_type=event_type, named=named)


def facts_delete_many(*, tenant: Tenant, fact_ids: Collection[UUID], actor: str = "") -> DeleteResult:
    """All of these or none; those deleted already are passed over. Raises FactUnknownError naming unknown ids."""
    with tenant_scope(tenant):
        known = set(Fact.objects.filter(pk__in=fact_ids).values_list("pk", flat=True))
    if unknown := [fact_id for fact_id in fact_ids if fact_id not in known]:
        raise FactUnknownError(unknown)
    return _delete_matching(tenant, Q(pk__in=fact_ids), actor=actor, event_type="DELETE")


def _delete_matching(
    tenant: Tenant, condition: Q, *, actor: str, event_type: str, named: dict[str, str] | None = None
) -> DeleteResult:
    """`named`: all memory under these names goes, that which is still being found and what was superseded too."""
    matching = condition & Q(status=FactStatus.ACTIVE)
    with tenant_scope(tenant), transaction.atomic():
        owner_ids = set(Fact.objects.filter(matching).values_list("owner_id", flat=True))
        if named:
            owner_ids |= set(Extraction.objects.filter(**named).values_list("owner_id", flat=True))
        # In the order of their ids, so that two of these calls never wait for each other.
        owners = Owner.objects.select_for_update(no_key=True).filter(pk__in=owner_ids).order_by("pk")
        results: list[dict[str, str]] = []
        for owner in owners:
            facts = list(Fact.objects.filter(matching, owner=owner))
            _retire_all(owner, facts, actor=actor)
            results += [{"id": str(fact.pk), "event": "DELETE"} for fact in facts]
        if named:
            Fact.objects.filter(status=FactStatus.SUPERSEDED, **named).update(status=FactStatus.DELETED)
            extractions_call_off(named=Q(**named), reason="its memory was deleted before the facts were found")
            _note_erasure(named)
        event = event_record(tenant_id=tenant.pk, event_type=event_type, results=results)
    return DeleteResult(event, len(results))


def _note_erasure(named: dict[str, str]) -> None:
    """What was said to an owner before all its memory went, and is still on its way, goes too."""
    if len(named) == 1:
        scopes = Scopes(**named)
        Owner.objects.filter(kind=scopes.owner_kind, name=scopes.owner_name).update(erased_at=timezone.now())


def _retire_all(owner: Owner, facts: list[Fact], *, actor: str) -> None:
    if not facts:
        return
    stale = retire(owner, facts, seq=owner_touch(owner, erases=True), actor=actor)
    encode_on_commit(owner, stale.dependents)
    drop_stale_on_commit(owner)
