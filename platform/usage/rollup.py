"""Rolling request records up. Any run may be repeated or cut off: each step replaces what it found."""

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime, timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Min
from tenants.scope import every_tenant

from usage.histogram import Histogram
from usage.models import RequestRecord, RollUp, RollUpMark
from usage.services import fact_injections_note
from usage.traffic import HOUR, MINUTE, MINUTES_KEPT, SUMS, Cell, Usage, floor_to, record_cells, usage_of

LATENESS = timedelta(minutes=1)  # records are written within a second
AT_ONCE = timedelta(hours=6)
ONE_MINUTE, ONE_HOUR = timedelta(minutes=1), timedelta(hours=1)
BATCH = 2000

Key = tuple[UUID | None, datetime, str]


def roll_up(*, now: datetime, since: datetime | None = None) -> int:
    """All that is finished, from where the last run ended or from `since`; the number of minutes gone through.

    What was rolled up of records that are gone stays as it is.
    """
    first = _first_record() if since is not None else None
    if since is not None and first is not None:
        _go_back(floor_to(max(since, first), ONE_MINUTE))
    until = floor_to(now - LATENESS, ONE_MINUTE)
    minutes = 0
    while done := _next_part(until):
        minutes += done
    return minutes


def _next_part(until: datetime) -> int:
    """Minutes gone through in a transaction of its own; 0 at the end, or while another run is at it."""
    with every_tenant(), transaction.atomic():
        mark = RollUpMark.objects.select_for_update(skip_locked=True).first()
        if mark is None:
            mark = _first_mark()
        if mark is None or mark.until >= until:
            return 0
        since, end = mark.until, min(until, mark.until + AT_ONCE)
        first_hour, oldest_minute = floor_to(since, ONE_HOUR), until - MINUTES_KEPT - ONE_HOUR
        cells = record_cells(since=since, until=end)
        if since == first_hour and end <= oldest_minute:  # catching up: these minutes would go at once
            _replace(HOUR, since, end, cells)
        else:
            _replace(MINUTE, since, end, cells)
            _replace(HOUR, first_hour, end, _minutes(first_hour, end))
        RollUp.objects.filter(seconds=MINUTE, start__lt=oldest_minute).delete()
        fact_injections_note(since=since, until=end)
        mark.until = end
        mark.save()
        return (end - since) // ONE_MINUTE


def _first_mark() -> RollUpMark | None:
    """None while there is no record, or when another run has just made one."""
    first = _first_record()
    if first is None:
        return None
    mark, made = RollUpMark.objects.get_or_create(pk=1, defaults={"until": floor_to(first, ONE_HOUR)})
    return mark if made else None


def _first_record() -> datetime | None:
    with every_tenant():
        first: datetime | None = RequestRecord.objects.aggregate(first=Min("created_at"))["first"]
    return first


def _go_back(since: datetime) -> None:
    """To the whole hour, for an hour is made of all its minutes."""
    RollUpMark.objects.filter(until__gt=since).update(until=floor_to(since, ONE_HOUR))


def _minutes(since: datetime, until: datetime) -> Iterable[Cell]:
    rows = RollUp.objects.filter(seconds=MINUTE, tenant__isnull=False, start__gte=since, start__lt=until)
    for tenant_id, start, mode, ttft, *sums in rows.values_list("tenant_id", "start", "mode", "ttft", *SUMS):
        yield Cell(tenant_id, start, mode, usage_of(sums, Histogram.from_bytes(ttft)))


def _replace(seconds: int, since: datetime, until: datetime, cells: Iterable[Cell]) -> None:
    step = timedelta(seconds=seconds)
    merged = defaultdict[Key, Usage](Usage)
    for cell in cells:
        for tenant_id in (cell.tenant_id, None):
            merged[tenant_id, floor_to(cell.start, step), cell.mode].add(cell.usage)
    RollUp.objects.filter(seconds=seconds, start__gte=since, start__lt=until).delete()
    RollUp.objects.bulk_create((_row(seconds, key, usage) for key, usage in merged.items()), batch_size=BATCH)


def _row(seconds: int, key: Key, usage: Usage) -> RollUp:
    tenant_id, start, mode = key
    sums = {name: getattr(usage, name) for name in SUMS}
    return RollUp(tenant_id=tenant_id, seconds=seconds, start=start, mode=mode, ttft=usage.ttft.to_bytes(), **sums)
