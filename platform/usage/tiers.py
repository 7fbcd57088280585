"""How full the tiers are and what went through them: samples written, and read again in steps of a period."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection, transaction
from tenants.scope import every_tenant

from usage.models import TierHolding, TierSample

TIERS = ("gpu", "host", "disk")
COUNTS = ("hits", "filled", "evicted", "lost", "lookups", "found")
# The first sample of a tier is only what the second is compared with.
TRAFFIC = f"""
WITH sample AS (
    SELECT *, lag(time) OVER tier AS before,
        {", ".join(f"lag({name}) OVER tier AS {name}_before" for name in COUNTS)}
    FROM {TierSample._meta.db_table}
    WHERE time >= %(since)s AND time <= %(until)s
    WINDOW tier AS (PARTITION BY tier ORDER BY time, id)
), counted AS (
    SELECT *, {" OR ".join(f"{name} < {name}_before" for name in COUNTS)} AS has_restarted
    FROM sample WHERE before IS NOT NULL
)
SELECT tier, date_bin(make_interval(secs => %(step)s), time, %(since)s) AS start,
    (array_agg(bytes ORDER BY time DESC))[1], (array_agg(bytes_used ORDER BY time DESC))[1],
    {", ".join(f"sum({name} - CASE WHEN has_restarted THEN 0 ELSE {name}_before END)::bigint" for name in COUNTS)}
FROM counted GROUP BY tier, start ORDER BY tier, start
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TierSampleData:
    """As in TierSample."""

    tier: str
    bytes: int
    bytes_used: int
    hits: int
    filled: int
    evicted: int
    lost: int
    blobs: int = 0
    lookups: int = 0
    found: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TierHoldingData:
    """As in TierHolding."""

    tenant_id: UUID
    owner_id: int
    tier: str
    blobs: int
    bytes: int


@dataclass(frozen=True, slots=True)
class TierFlow:
    """What went through a tier in some time, in blobs. `hit_rate` is None where nothing was looked for."""

    hits: int = 0
    filled: int = 0
    evicted: int = 0
    lost: int = 0
    lookups: int = 0
    found: int = 0

    @property
    def hit_rate(self) -> float | None:
        return min(1.0, self.found / self.lookups) if self.lookups else None


@dataclass(frozen=True, slots=True)
class TierPoint:
    """A step of a tier; bytes are those at its end."""

    start: datetime
    bytes: int
    bytes_used: int
    flow: TierFlow


def tier_samples_write(samples: Sequence[TierSampleData], *, time: datetime) -> None:
    TierSample.objects.bulk_create([TierSample(time=time, **asdict(sample)) for sample in samples])


def tier_samples_delete(*, before: datetime) -> int:
    return TierSample.objects.filter(time__lt=before).delete()[0]


@transaction.atomic
def tier_holdings_replace(holdings: Sequence[TierHoldingData]) -> None:
    """All tenants', by what the engine says now. Of two at once, the later wins."""
    rows = [TierHolding(**asdict(holding)) for holding in sorted(holdings, key=lambda one: (one.owner_id, one.tier))]
    with every_tenant():
        TierHolding.objects.all().delete()
        TierHolding.objects.bulk_create(
            rows, update_conflicts=True, unique_fields=("owner", "tier"), update_fields=("blobs", "bytes")
        )


def tiers_now() -> dict[str, TierSample]:
    """The last sample of each tier, the nearest to the model first; without those never sampled."""
    latest = TierSample.objects.order_by("tier", "-time", "-pk").distinct("tier")
    found = {sample.tier: sample for sample in latest}
    return {tier: found[tier] for tier in TIERS if tier in found}


def tier_traffic(*, since: datetime, until: datetime, step: timedelta) -> dict[str, list[TierPoint]]:
    """By tier, the oldest step first; steps without a sample are left out."""
    found = defaultdict[str, list[TierPoint]](list)
    with connection.cursor() as cursor:
        cursor.execute(TRAFFIC, {"since": since, "until": until, "step": step.total_seconds()})
        for tier, start, size, used, *counts in cursor.fetchall():
            found[tier].append(TierPoint(start, size, used, TierFlow(*counts)))
    return {tier: found[tier] for tier in TIERS if tier in found}


def tier_flow(points: Sequence[TierPoint]) -> TierFlow:
    """Of all steps together."""
    return TierFlow(*(sum(getattr(point.flow, name) for point in points) for name in COUNTS))
