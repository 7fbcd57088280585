"""Reads on usage."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from django.db.models import Max, Q, QuerySet
from tenants.models import Tenant
from tenants.scope import every_tenant, tenant_scope

from usage.models import FactInjection, OwnerActivity, RequestRecord, Residence


def request_records(*, tenant: Tenant, since: datetime | None = None, owner_name: str = "") -> QuerySet[RequestRecord]:
    """Newest first."""
    with tenant_scope(tenant):
        records = RequestRecord.objects.order_by("-created_at")
        if since is not None:
            records = records.filter(created_at__gte=since)
        return records.filter(owner_name=owner_name) if owner_name else records


@dataclass(frozen=True, slots=True)
class RequestFilter:
    """'' and None mean any. `outcome` is answered, refused, failed or left; `at_least_ms` is of the first token.

    `fact_id`: used by them. No index knows that: name the owner too, whose requests in the period are looked through.
    """

    owner_name: str = ""
    mode: str = ""
    outcome: str = ""
    request_id: str = ""
    at_least_ms: float | None = None
    fact_id: UUID | None = None


OUTCOMES = {
    "answered": Q(status__lt=400),
    "refused": Q(status__gte=400, status__lt=499),
    "left": Q(status=499),
    "failed": Q(status__gte=500),
}


def requests_browse(
    *, tenant: Tenant, since: datetime, until: datetime, chosen: RequestFilter
) -> QuerySet[RequestRecord]:
    """Newest first."""
    with tenant_scope(tenant):
        records = RequestRecord.objects.filter(created_at__gte=since, created_at__lt=until)
        exact = {"owner_name": chosen.owner_name, "mode": chosen.mode, "request_id": chosen.request_id}
        records = records.filter(**{name: value for name, value in exact.items() if value})
        if chosen.outcome:
            records = records.filter(OUTCOMES[chosen.outcome])
        if chosen.at_least_ms is not None:
            records = records.filter(ttft_ms__gte=chosen.at_least_ms)
        if chosen.fact_id is not None:
            records = records.filter(fact_ids__contains=[chosen.fact_id])
        return records.order_by("-created_at", "-pk")


def request_get(*, tenant: Tenant, record_id: UUID) -> RequestRecord | None:
    with tenant_scope(tenant):
        return RequestRecord.objects.filter(pk=record_id).first()


def facts_injected_at(*, tenant: Tenant, fact_ids: Collection[UUID]) -> dict[UUID, datetime]:
    """By fact, when a chat last injected it; without those that none did."""
    with tenant_scope(tenant):
        return dict(FactInjection.objects.filter(pk__in=fact_ids).values_list("fact_id", "injected_at"))


def activity_of(*, tenant: Tenant, owner_ids: Collection[int]) -> dict[int, OwnerActivity]:
    """By owner; without those never heard of."""
    with tenant_scope(tenant):
        return OwnerActivity.objects.in_bulk(owner_ids)


def activity_seen_until() -> datetime | None:
    """The latest activity that is known; None when none ever was."""
    with every_tenant():
        latest: datetime | None = OwnerActivity.objects.aggregate(latest=Max("active_at"))["latest"]
        return latest


def owners_to_promote(*, idle_before: datetime) -> QuerySet[OwnerActivity]:
    """Owners of active tenants who became active; the most recently active first."""
    with every_tenant():
        waiting = OwnerActivity.objects.filter(residence=Residence.WAITING, active_at__gte=idle_before)
        return waiting.filter(tenant__is_active=True).order_by("-active_at", "pk")


def owners_to_move(*, idle_before: datetime) -> QuerySet[OwnerActivity]:
    """Owners whom somebody wants on disk, or who are idle and have not been moved since; the longest idle first."""
    with every_tenant():
        idle = Q(residence__in=(Residence.WAITING, Residence.MEMORY), active_at__lt=idle_before)
        return OwnerActivity.objects.filter(idle | Q(residence=Residence.LEAVING)).order_by("active_at", "pk")
