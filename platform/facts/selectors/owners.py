"""Reads on owners, their turns, and events."""

from typing import NamedTuple
from uuid import UUID

from django.db.models import QuerySet
from tenants.models import Tenant
from tenants.scope import tenant_scope

from facts.models import Event, Fact, Owner, Turn
from facts.scopes import Scopes


class OwnerState(NamedTuple):
    change_seq: int
    erasure_epoch: int


def owner_get(*, tenant: Tenant, scopes: Scopes) -> Owner | None:
    with tenant_scope(tenant):
        return Owner.objects.filter(kind=scopes.owner_kind, name=scopes.owner_name).first()


def owner_state(owner_id: int) -> OwnerState:
    """Read it before the delta: what the delta brings beyond it comes again with the next one. Zeros when gone."""
    state = Owner.objects.filter(pk=owner_id).values_list("change_seq", "erasure_epoch").first()
    return OwnerState(*state) if state else OwnerState(0, 0)


def turns_before(*, fact: Fact, limit: int) -> list[Turn]:
    """The turns said before the fact's own, oldest first."""
    if fact.source_turn is None:
        return []
    turns = Turn.objects.filter(owner_id=fact.owner_id, created_at__lt=fact.source_turn.created_at)
    return list(turns.order_by("-created_at")[:limit])[::-1]


def events_list(*, tenant: Tenant) -> QuerySet[Event]:
    """Newest first."""
    with tenant_scope(tenant):
        return Event.objects.order_by("-created_at", "-pk")


def event_get(*, tenant: Tenant, event_id: UUID) -> Event | None:
    with tenant_scope(tenant):
        return Event.objects.filter(pk=event_id).first()
