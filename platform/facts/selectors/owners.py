"""Reads on owners, their turns, and events."""

from typing import NamedTuple
from uuid import UUID

from django.db import connection
from django.db.models import QuerySet
from tenants.models import Tenant
from tenants.scope import tenant_scope

from facts.models import Event, Owner
from facts.scopes import Scopes

OWNER_FIELDS = tuple(field.attname for field in Owner._meta.concrete_fields)
# In SQL, for every chat waits for it: building the query takes Django three times as long as running it.
OWNER = f"SELECT {', '.join(OWNER_FIELDS)} FROM {Owner._meta.db_table} WHERE tenant_id = %s AND kind = %s AND name = %s"


class OwnerState(NamedTuple):
    change_seq: int
    erasure_epoch: int


def owner_get(*, tenant: Tenant, scopes: Scopes) -> Owner | None:
    with connection.cursor() as cursor:
        cursor.execute(OWNER, (tenant.pk, scopes.owner_kind, scopes.owner_name))
        row = cursor.fetchone()
    return Owner.from_db(connection.alias, OWNER_FIELDS, row) if row else None


def owner_state(owner_id: int) -> OwnerState:
    """Read it before the delta: what the delta brings beyond it comes again with the next one. Zeros when gone."""
    state = Owner.objects.filter(pk=owner_id).values_list("change_seq", "erasure_epoch").first()
    return OwnerState(*state) if state else OwnerState(0, 0)


def events_list(*, tenant: Tenant) -> QuerySet[Event]:
    """Newest first."""
    with tenant_scope(tenant):
        return Event.objects.order_by("-created_at", "-pk")


def event_get(*, tenant: Tenant, event_id: UUID) -> Event | None:
    with tenant_scope(tenant):
        return Event.objects.filter(pk=event_id).first()
