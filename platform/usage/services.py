"""Writes on usage."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, fields
from datetime import datetime, timedelta
from functools import partial
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Case, Q, Value, When
from django.utils import timezone
from facts.enqueue import FOLLOW_ACTIVITY, enqueue
from facts.models import Fact, Owner, OwnerKind
from tenants.models import Tenant
from tenants.scope import every_tenant, tenant_scope

from usage.models import FactInjection, Mode, OwnerActivity, RequestRecord, Residence
from usage.traffic import floor_to

# Tenant by tenant, for both tables are indexed by tenant and time. Records say an owner's name, not its kind.
NOTE_ACTIVITY = f"""
INSERT INTO {OwnerActivity._meta.db_table} AS known (owner_id, tenant_id, active_at, residence)
SELECT seen.owner_id, t.id, least(max(seen.at), %(now)s), '{Residence.WAITING}'
FROM {Tenant._meta.db_table} t CROSS JOIN LATERAL (
    SELECT o.id AS owner_id, r.created_at AS at
    FROM {RequestRecord._meta.db_table} r
    JOIN {Owner._meta.db_table} o ON o.tenant_id = r.tenant_id AND o.kind = ANY(%(kinds)s) AND o.name = r.owner_name
    WHERE r.tenant_id = t.id AND r.created_at > %(since)s AND r.mode <> '{Mode.NONE}'
    UNION ALL
    SELECT f.owner_id, f.created_at FROM {Fact._meta.db_table} f
    WHERE f.tenant_id = t.id AND f.created_at > %(since)s
) seen
GROUP BY seen.owner_id, t.id
ON CONFLICT (owner_id) DO UPDATE SET
    active_at = excluded.active_at,
    residence = CASE known.residence WHEN '{Residence.DISK}' THEN '{Residence.WAITING}' ELSE known.residence END
WHERE excluded.active_at > known.active_at
"""

EXPIRED_AT_ONCE = 10_000
INJECTION_EXACT_TO = "1 hour"
# Facts in the order of their ids and locked first, so that neither two of these nor a deletion wait for each other.
NOTE_INJECTIONS = f"""
INSERT INTO {FactInjection._meta.db_table} AS known (fact_id, tenant_id, injected_at)
SELECT fact.id, fact.tenant_id, seen.at
FROM (
    SELECT r.tenant_id, used.fact_id, max(r.created_at) AS at
    FROM {RequestRecord._meta.db_table} r CROSS JOIN LATERAL unnest(r.fact_ids[:r.facts_injected]) AS used (fact_id)
    WHERE r.created_at >= %(since)s AND r.created_at < %(until)s AND r.facts_injected > 0 AND r.status < 400
    GROUP BY r.tenant_id, used.fact_id
) seen
JOIN {Fact._meta.db_table} fact ON fact.id = seen.fact_id AND fact.tenant_id = seen.tenant_id
LEFT JOIN {FactInjection._meta.db_table} earlier ON earlier.fact_id = fact.id
WHERE earlier.injected_at IS NULL OR earlier.injected_at <= seen.at - interval '{INJECTION_EXACT_TO}'
ORDER BY fact.id
FOR KEY SHARE OF fact
ON CONFLICT (fact_id) DO UPDATE SET injected_at = greatest(known.injected_at, excluded.injected_at)
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRecordData:
    """One chat request; times in milliseconds, None where it never got there. The rest as in RequestRecord."""

    tenant_id: UUID
    mode: str
    status: int
    owner_name: str = ""
    ttft_ms: float | None = None
    total_ms: float | None = None
    retrieval_ms: float | None = None
    prompt_tokens: int = 0
    tokens_injected_planned: int = 0
    cached_tokens: int | None = None
    output_tokens: int = 0
    facts: int = 0
    fact_ids: Sequence[UUID] = ()
    facts_injected: int = 0
    model: str = ""
    request_id: str = ""
    created_at: datetime = field(default_factory=timezone.now)


def request_records_write(records: Sequence[RequestRecordData]) -> int:
    """Many records of many tenants in one statement; the number written. Those of tenants that are gone are dropped."""
    known = set(Tenant.objects.filter(pk__in={record.tenant_id for record in records}).values_list("pk", flat=True))
    rows = [_record(record) for record in records if record.tenant_id in known]
    with every_tenant():
        return len(RequestRecord.objects.bulk_create(rows))


def _record(data: RequestRecordData) -> RequestRecord:
    values = {field.name: getattr(data, field.name) for field in fields(data)}  # asdict would copy every id
    return RequestRecord(**{**values, "fact_ids": list(data.fact_ids)})


def request_records_expire(*, now: datetime, kept: timedelta) -> int:
    """Older records are deleted, by whole hours and in steps that let others write; how many. Their sums stay."""
    deleted, first_kept = 0, floor_to(now - kept, timedelta(hours=1))
    with every_tenant():
        old = RequestRecord.objects.filter(created_at__lt=first_kept).order_by("created_at").values("pk")
        while count := RequestRecord.objects.filter(pk__in=old[:EXPIRED_AT_ONCE]).delete()[0]:
            deleted += count
    return deleted


def fact_injections_note(*, since: datetime, until: datetime) -> int:
    """Facts that chats injected in that time are noted so; the number of those whose note changed."""
    with connection.cursor() as cursor:
        cursor.execute(NOTE_INJECTIONS, {"since": since, "until": until})
        return int(cursor.rowcount)


def owner_activity_note(*, since: datetime, now: datetime) -> int:
    """Chats with memory and facts added since become their owners' activity; how many owners' moved.

    Who had been moved to disk waits to be promoted again. Times ahead of `now` count as `now`.
    """
    with connection.cursor() as cursor:
        cursor.execute(NOTE_ACTIVITY, {"since": since, "now": now, "kinds": list(OwnerKind.values)})
        return int(cursor.rowcount)


def owners_promoted(*, owner_ids: Collection[int]) -> None:
    with every_tenant():
        waiting = OwnerActivity.objects.filter(pk__in=owner_ids, residence=Residence.WAITING)
        waiting.update(residence=Residence.MEMORY)


def owners_moved(*, owner_ids: Collection[int], idle_before: datetime) -> None:
    """Who became active while it was moved waits to be promoted, unless somebody wanted it on disk."""
    wanted = Q(active_at__lt=idle_before) | Q(residence=Residence.LEAVING)
    moved = Case(When(wanted, then=Value(Residence.DISK)), default=Value(Residence.WAITING))
    with every_tenant():
        OwnerActivity.objects.filter(pk__in=owner_ids).update(residence=moved)


def owners_promote(*, tenant: Tenant, owner_ids: Collection[int], now: datetime) -> None:
    """Have these owners' blobs brought up into memory, as if the owners had just been active."""
    _place(tenant, owner_ids, Residence.WAITING, now, ("residence", "active_at"))


def owners_demote(*, tenant: Tenant, owner_ids: Collection[int], now: datetime) -> None:
    """Have these owners' blobs leave memory. On disk they stay, and a chat brings them back."""
    _place(tenant, owner_ids, Residence.LEAVING, now, ("residence",))


def _place(
    tenant: Tenant, owner_ids: Collection[int], residence: Residence, now: datetime, fields: Sequence[str]
) -> None:
    """Owners that were never heard of are active now. The worker looks at once, or when it looks next."""
    with tenant_scope(tenant), transaction.atomic():
        transaction.on_commit(partial(enqueue, FOLLOW_ACTIVITY), robust=True)
        known = set(Owner.objects.filter(pk__in=owner_ids).values_list("pk", flat=True))
        rows = [OwnerActivity(owner_id=pk, tenant=tenant, active_at=now, residence=residence) for pk in sorted(known)]
        OwnerActivity.objects.bulk_create(
            rows, update_conflicts=True, unique_fields=("owner",), update_fields=tuple(fields)
        )
