"""Reads on facts for people: one, many, history."""

from collections.abc import Sequence
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import tenant_scope

from facts.errors import FactUnknownError
from facts.models import Fact, FactHistory, FactStatus
from facts.scopes import Scopes


def not_expired() -> Q:
    return Q(expires_at=None) | Q(expires_at__gt=timezone.now())


def facts_matching(
    *, tenant: Tenant, scopes: Scopes | None = None, condition: Q | None = None, show_expired: bool = False
) -> QuerySet[Fact]:
    """Active facts that carry every name in `scopes` and meet `condition`, newest first."""
    with tenant_scope(tenant):
        facts = Fact.objects.filter(status=FactStatus.ACTIVE).order_by("-created_at", "-pk")
        if scopes is not None:
            facts = facts.filter(**scopes.named)
        if condition is not None:
            facts = facts.filter(condition)
        return facts if show_expired else facts.filter(not_expired())


def facts_count(*, tenant: Tenant) -> int:
    """Active facts, expired ones among them."""
    with tenant_scope(tenant):
        return Fact.objects.filter(status=FactStatus.ACTIVE).count()


def fact_get(*, tenant: Tenant, fact_id: UUID) -> Fact | None:
    """Also an expired one; None for a deleted, unknown or another tenant's."""
    with tenant_scope(tenant):
        return Fact.objects.select_related("tenant").filter(pk=fact_id, status=FactStatus.ACTIVE).first()


def facts_by_id(*, tenant: Tenant, fact_ids: Sequence[UUID]) -> list[Fact]:
    """In the order given. Raises FactUnknownError naming those that are unknown or deleted."""
    with tenant_scope(tenant):
        active = Fact.objects.select_related("tenant").filter(status=FactStatus.ACTIVE)
        found = active.defer("embedding").in_bulk(fact_ids)
    if unknown := [fact_id for fact_id in fact_ids if fact_id not in found]:
        raise FactUnknownError(unknown)
    return [found[fact_id] for fact_id in fact_ids]


def fact_history(*, tenant: Tenant, fact_id: UUID) -> QuerySet[FactHistory]:
    """Oldest first, also of a deleted fact; empty for an unknown one."""
    with tenant_scope(tenant):
        return FactHistory.objects.filter(fact_id=fact_id).order_by("created_at", "pk")
