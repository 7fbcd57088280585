"""Reads on those whom memories name: users, agents, apps, runs."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid5

from django.db.models import Count, Max, Min, QuerySet
from tenants.models import Tenant
from tenants.scope import tenant_scope

from facts.models import Fact, FactStatus, Owner, OwnerKind


@dataclass(frozen=True, slots=True)
class Entity:
    """A name that memories carry. `id` is made of tenant, kind and name: always the same for the same three."""

    id: UUID
    type: str
    name: str
    total_memories: int
    created_at: datetime
    updated_at: datetime


def entities_list(*, tenant: Tenant) -> list[Entity]:
    """All that a memory names, expired memories included; users first, each kind by name."""
    with tenant_scope(tenant):
        active = Fact.objects.filter(status=FactStatus.ACTIVE)
        return [entity for kind in OwnerKind.values for entity in _of_kind(tenant, kind, active)]


def entity_get(*, tenant: Tenant, kind: str, name: str) -> Entity | None:
    with tenant_scope(tenant):
        active = Fact.objects.filter(status=FactStatus.ACTIVE, **{f"{kind}_id": name})
        return next(_of_kind(tenant, kind, active), None)


def entity_is_known(*, tenant: Tenant, kind: str, name: str) -> bool:
    """Also when all its memories are gone: erasing twice, or what another's erasure took along, is no mistake."""
    with tenant_scope(tenant):
        named = Fact.objects.filter(**{f"{kind}_id": name})
        return named.exists() or Owner.objects.filter(kind=kind, name=name).exists()


def _of_kind(tenant: Tenant, kind: str, facts: QuerySet[Fact]) -> Iterator[Entity]:
    field = f"{kind}_id"
    named = facts.exclude(**{field: ""}).order_by(field).values_list(field)
    counted = named.annotate(Count("pk"), Min("created_at"), Max("updated_at"))
    for name, count, created_at, updated_at in counted:
        yield Entity(uuid5(tenant.pk, f"{kind}:{name}"), kind, name, count, created_at, updated_at)
