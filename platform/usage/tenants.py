"""Tenants side by side: what each stores and serves."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Sum
from facts.models import Encoding, EncodingState, Fact, FactStatus
from tenants.models import Tenant
from tenants.scope import every_tenant

from usage.models import RollUp
from usage.traffic import HOUR


@dataclass(frozen=True, slots=True)
class TenantFigures:
    """`requests` are those rolled up since the hour in which the asked time lies."""

    tenant: Tenant
    facts: int
    bytes: int
    requests: int


def tenant_figures(tenants: Sequence[Tenant], *, since: datetime) -> list[TenantFigures]:
    """In the order given, in three queries."""
    ids = [tenant.pk for tenant in tenants]
    hour = since.replace(minute=0, second=0, microsecond=0)
    with every_tenant():  # the caller chose the tenants
        active = Fact.objects.filter(tenant_id__in=ids, status=FactStatus.ACTIVE)
        facts = dict(active.order_by().values_list("tenant_id").annotate(Count("pk")))
        ready = Encoding.objects.filter(tenant_id__in=ids, state=EncodingState.READY)
        sizes: dict[UUID, int | None] = dict(ready.order_by().values_list("tenant_id").annotate(Sum("bytes")))
        rolled = RollUp.objects.filter(tenant_id__in=ids, seconds=HOUR, start__gte=hour)
        requests = dict(rolled.order_by().values_list("tenant_id").annotate(Sum("requests")))
    return [
        TenantFigures(tenant, facts.get(tenant.pk, 0), sizes.get(tenant.pk) or 0, requests.get(tenant.pk, 0))
        for tenant in tenants
    ]
