"""What chat requests did over time, from roll-ups and the records that are not rolled up yet."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import NamedTuple
from uuid import UUID

from django.db import connection
from tenants.models import Tenant
from tenants.scope import every_tenant

from usage.histogram import BUCKET_SQL, Histogram
from usage.models import Mode, RequestRecord, RollUp, RollUpMark

MINUTE, HOUR = 60, 3600
MINUTES_KEPT = timedelta(hours=48)
SUMS = ("requests", "refused", "failed", "prompt_tokens", "injected_tokens", "output_tokens")

# One row a tenant, minute, mode and bucket; the bucket is NULL where no token ever came.
RECORDS = f"""
SELECT tenant_id, date_bin('1 minute', created_at, 'epoch'::timestamptz), mode,
    CASE WHEN ttft_ms IS NOT NULL THEN {BUCKET_SQL.format(column="ttft_ms")}::int END,
    count(*), count(*) FILTER (WHERE status BETWEEN 400 AND 498), count(*) FILTER (WHERE status >= 500),
    sum(prompt_tokens), sum(tokens_injected_planned), sum(output_tokens)
FROM {RequestRecord._meta.db_table}
WHERE created_at >= %s AND created_at < %s AND (%s::uuid IS NULL OR tenant_id = %s)
GROUP BY 1, 2, 3, 4
"""


@dataclass(slots=True)
class Usage:
    """Sums of some requests; `ttft` counts those that got a token."""

    requests: int = 0
    refused: int = 0
    failed: int = 0
    prompt_tokens: int = 0
    injected_tokens: int = 0
    output_tokens: int = 0
    ttft: Histogram = field(default_factory=Histogram)

    def add(self, other: "Usage") -> None:
        self.requests += other.requests
        self.refused += other.refused
        self.failed += other.failed
        self.prompt_tokens += other.prompt_tokens
        self.injected_tokens += other.injected_tokens
        self.output_tokens += other.output_tokens
        self.ttft.add(other.ttft)

    @property
    def injected_share(self) -> float | None:
        return self.injected_tokens / self.prompt_tokens if self.prompt_tokens else None


class Cell(NamedTuple):
    tenant_id: UUID | None
    start: datetime
    mode: str
    usage: Usage


@dataclass(slots=True)
class Point:
    """The requests that began in the step from `start` on."""

    start: datetime
    modes: dict[str, Usage] = field(default_factory=lambda: {mode: Usage() for mode in Mode.values})

    @property
    def requests(self) -> int:
        return sum(usage.requests for usage in self.modes.values())


@dataclass(frozen=True, slots=True)
class Traffic:
    """`points` lie `step` apart without a gap, the oldest first."""

    step: timedelta
    points: list[Point]
    total: Point

    @property
    def all(self) -> Usage:
        """All modes together."""
        together = Usage()
        for usage in self.total.modes.values():
            together.add(usage)
        return together

    @property
    def multiple(self) -> float | None:
        """How many times as long the first token of a prompt takes as that of an injected one, in medians."""
        prompt, inject = (self.total.modes[mode].ttft.quantile(0.5) for mode in (Mode.PROMPT, Mode.INJECT))
        return prompt / inject if prompt and inject else None


def traffic(*, tenant: Tenant | None, since: datetime, until: datetime, step: timedelta) -> Traffic:
    """Of one tenant, or of all where it is None. `since` is moved back to a whole step."""
    since = floor_to(since, step)
    count = max(1, -(-(until - since) // step))
    points = [Point(since + step * i) for i in range(count)]
    for cell in _cells(tenant, since, until):
        points[min(count - 1, (cell.start - since) // step)].modes[cell.mode].add(cell.usage)
    total = Point(since)
    for point in points:
        for mode, usage in point.modes.items():
            total.modes[mode].add(usage)
    return Traffic(step, points, total)


def usage_of(sums: Iterable[int], ttft: Histogram | None = None) -> Usage:
    """`sums` in the order of SUMS."""
    named = dict(zip(SUMS, map(int, sums), strict=True))
    return Usage(**named, ttft=ttft or Histogram())


def floor_to(time: datetime, step: timedelta) -> datetime:
    """Counted from the epoch, in UTC."""
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    return epoch + (time - epoch) // step * step


def record_cells(*, since: datetime, until: datetime, tenant: Tenant | None = None) -> Iterator[Cell]:
    """By tenant, minute and mode, out of the records themselves."""
    tenant_id = tenant.pk if tenant else None
    with connection.cursor() as cursor:
        cursor.execute(RECORDS, (since, until, tenant_id, tenant_id))
        rows = cursor.fetchall()
    for owner_id, start, mode, bucket, *sums in rows:
        usage = usage_of(sums)
        if bucket is not None:
            usage.ttft = Histogram.from_counts({bucket: usage.requests})
        yield Cell(owner_id, start, mode, usage)


def roll_up_cells(*, seconds: int, since: datetime, until: datetime, tenant: Tenant | None) -> Iterator[Cell]:
    with every_tenant():
        rows = RollUp.objects.filter(tenant=tenant, seconds=seconds, start__gte=since, start__lt=until)
        for start, mode, ttft, *sums in rows.values_list("start", "mode", "ttft", *SUMS):
            yield Cell(tenant.pk if tenant else None, start, mode, usage_of(sums, Histogram.from_bytes(ttft)))


def rolled_until() -> datetime | None:
    return RollUpMark.objects.values_list("until", flat=True).first()


def _cells(tenant: Tenant | None, since: datetime, until: datetime) -> Iterator[Cell]:
    mark = rolled_until()
    if mark is None:
        yield from record_cells(since=since, until=until, tenant=tenant)
        return
    seconds = MINUTE if since >= mark - MINUTES_KEPT else HOUR
    yield from roll_up_cells(seconds=seconds, since=since, until=min(until, mark), tenant=tenant)
    if until > mark:
        yield from record_cells(since=max(since, mark), until=until, tenant=tenant)
