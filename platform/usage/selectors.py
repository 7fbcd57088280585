"""Reads on usage."""

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise

from django.db.models import Max, QuerySet
from tenants.models import Tenant
from tenants.scope import every_tenant, tenant_scope

from usage.models import OwnerActivity, RequestRecord, Residence, TierSample

COUNTS = ("hits", "filled", "evicted", "lost")


def request_records(*, tenant: Tenant, since: datetime | None = None, owner_name: str = "") -> QuerySet[RequestRecord]:
    """Newest first."""
    with tenant_scope(tenant):
        records = RequestRecord.objects.order_by("-created_at")
        if since is not None:
            records = records.filter(created_at__gte=since)
        return records.filter(owner_name=owner_name) if owner_name else records


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
    """Owners who are idle and have not been moved since; the longest idle first."""
    with every_tenant():
        unmoved = OwnerActivity.objects.filter(residence__in=(Residence.WAITING, Residence.MEMORY))
        return unmoved.filter(active_at__lt=idle_before).order_by("active_at", "pk")


@dataclass(frozen=True, slots=True)
class TierPoint:
    """A tier at `time`; counts are those since the sample before. Bytes are one rank's."""

    time: datetime
    tier: str
    bytes: int
    bytes_used: int
    hits: int
    filled: int
    evicted: int
    lost: int


def tier_history(*, since: datetime) -> dict[str, list[TierPoint]]:
    """By tier, the oldest first. The first sample is only what the second is compared with."""
    samples = defaultdict[str, list[TierSample]](list)
    for sample in TierSample.objects.filter(time__gte=since).order_by("time", "pk"):
        samples[sample.tier].append(sample)
    return {tier: [_point(*pair) for pair in pairwise(of_tier)] for tier, of_tier in samples.items()}


def _point(before: TierSample, sample: TierSample) -> TierPoint:
    totals = {name: getattr(sample, name) for name in COUNTS}
    earlier = {name: getattr(before, name) for name in COUNTS}
    has_restarted = any(totals[name] < earlier[name] for name in COUNTS)
    counts = totals if has_restarted else {name: totals[name] - earlier[name] for name in COUNTS}
    return TierPoint(sample.time, sample.tier, sample.bytes, sample.bytes_used, **counts)
