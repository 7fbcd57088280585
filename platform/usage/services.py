"""Writes on usage."""

from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime
from uuid import UUID

from django.db import connection
from django.db.models import Case, Value, When
from django.utils import timezone
from facts.models import Fact, Owner, OwnerKind
from tenants.models import Tenant
from tenants.scope import every_tenant

from usage.models import Mode, OwnerActivity, RequestRecord, Residence, TierSample

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


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestRecordData:
    """One chat request; times in milliseconds, None where it never got there."""

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
    model: str = ""
    request_id: str = ""
    created_at: datetime = field(default_factory=timezone.now)


def request_records_write(records: Sequence[RequestRecordData]) -> int:
    """Many records of many tenants in one statement; the number written."""
    with every_tenant():
        return len(RequestRecord.objects.bulk_create([RequestRecord(**asdict(record)) for record in records]))


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
    """Who became active while it was moved waits to be promoted."""
    moved = Case(When(active_at__lt=idle_before, then=Value(Residence.DISK)), default=Value(Residence.WAITING))
    with every_tenant():
        OwnerActivity.objects.filter(pk__in=owner_ids).update(residence=moved)


@dataclass(frozen=True, slots=True, kw_only=True)
class TierSampleData:
    """As in TierSample: bytes of one rank, counts since the engine's start."""

    tier: str
    bytes: int
    bytes_used: int
    hits: int
    filled: int
    evicted: int
    lost: int


def tier_samples_write(samples: Sequence[TierSampleData], *, time: datetime) -> None:
    TierSample.objects.bulk_create([TierSample(time=time, **asdict(sample)) for sample in samples])


def tier_samples_delete(*, before: datetime) -> int:
    return TierSample.objects.filter(time__lt=before).delete()[0]
