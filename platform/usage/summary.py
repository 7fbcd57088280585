"""What a tenant used, by day."""

from collections import defaultdict
from dataclasses import dataclass, field
from datetime import UTC, date, datetime

from django.db.models import Count, Sum
from django.db.models.functions import TruncDate
from facts.models import Encoding, EncodingState, Event, Fact, FactStatus
from facts.selectors import kv_bytes
from tenants.models import Tenant
from tenants.scope import tenant_scope

from usage.models import RequestRecord


@dataclass(frozen=True, slots=True)
class StoredUsage:
    memories: int
    owners: int
    encoded: int
    bytes: int


@dataclass(slots=True)
class DayUsage:
    """`changes`: events by their type. Tokens injected are those planned."""

    day: date
    chats: int = 0
    prompt_tokens: int = 0
    injected_tokens: int = 0
    output_tokens: int = 0
    changes: dict[str, int] = field(default_factory=dict)


def stored_usage(*, tenant: Tenant) -> StoredUsage:
    with tenant_scope(tenant):
        active = Fact.objects.filter(status=FactStatus.ACTIVE)
        ready = Encoding.objects.filter(state=EncodingState.READY)
        return StoredUsage(
            memories=active.count(),
            owners=active.values("owner_id").distinct().count(),
            encoded=ready.filter(fact__isnull=False).values("fact_id").distinct().count(),
            bytes=kv_bytes(tenant=tenant),
        )


def usage_by_day(*, tenant: Tenant, since: datetime, until: datetime) -> list[DayUsage]:
    """The days in UTC on which anything happened, the oldest first."""
    days = defaultdict[date, dict[str, int]](dict)
    with tenant_scope(tenant):
        usages = {usage.day: usage for usage in _chats(since, until)}
        events = Event.objects.filter(created_at__gte=since, created_at__lt=until)
        counted = events.annotate(day=TruncDate("created_at", tzinfo=UTC)).values("day", "event_type").order_by()
        for row in counted.annotate(count=Count("pk")):
            days[row["day"]][row["event_type"]] = row["count"]
    for day, changes in days.items():
        usages.setdefault(day, DayUsage(day)).changes = changes
    return [usages[day] for day in sorted(usages)]


def usage_total(days: list[DayUsage], *, last: date) -> DayUsage:
    total = DayUsage(last)
    for usage in days:
        for name in ("chats", "prompt_tokens", "injected_tokens", "output_tokens"):
            setattr(total, name, getattr(total, name) + getattr(usage, name))
        for event_type, count in usage.changes.items():
            total.changes[event_type] = total.changes.get(event_type, 0) + count
    return total


def _chats(since: datetime, until: datetime) -> list[DayUsage]:
    records = RequestRecord.objects.filter(created_at__gte=since, created_at__lt=until)
    by_day = records.annotate(day=TruncDate("created_at", tzinfo=UTC)).values("day").order_by()
    sums = by_day.annotate(
        chats=Count("pk"),
        prompt=Sum("prompt_tokens"),
        injected=Sum("tokens_injected_planned"),
        output=Sum("output_tokens"),
    )
    return [DayUsage(row["day"], row["chats"], row["prompt"], row["injected"], row["output"]) for row in sums]
