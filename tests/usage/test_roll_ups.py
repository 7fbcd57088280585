"""Roll-ups say what the records say, whenever and however often they are made."""

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest
from tenants.models import Tenant
from tenants.scope import every_tenant
from usage.histogram import Histogram
from usage.models import RequestRecord, RollUp
from usage.rollup import roll_up
from usage.services import RequestRecordData, request_records_expire, request_records_write
from usage.traffic import Traffic, traffic

from tests.factories import People

NOW = datetime(2026, 11, 30, 12, 30, 30, tzinfo=UTC)
pytestmark = pytest.mark.django_db


def records(tenant: Tenant, count: int, *, over: timedelta, until: datetime = NOW) -> list[RequestRecordData]:
    chance = random.Random(count)
    return [
        RequestRecordData(
            tenant_id=tenant.pk,
            mode=chance.choice(("none", "prompt", "inject")),
            status=chance.choice((200, 200, 200, 400, 499, 500)),
            ttft_ms=chance.choice((None, chance.lognormvariate(4, 1))),
            prompt_tokens=chance.randrange(2000),
            tokens_injected_planned=chance.randrange(1000),
            output_tokens=chance.randrange(100),
            created_at=until - over * chance.random(),
        )
        for _ in range(count)
    ]


def of_last(tenant: Tenant | None, span: timedelta, step: timedelta) -> Traffic:
    return traffic(tenant=tenant, since=NOW - span, until=NOW, step=step)


def figures(seen: Traffic) -> list[tuple[Any, ...]]:
    return [
        (point.start, mode, *_sums(usage), usage.ttft.to_bytes())
        for point in seen.points
        for mode, usage in point.modes.items()
    ]


def _sums(usage: Any) -> Iterator[int]:
    for name in ("requests", "refused", "failed", "prompt_tokens", "injected_tokens", "output_tokens"):
        yield getattr(usage, name)


def test_a_quantile_is_within_two_percent() -> None:
    chance = random.Random(1)
    for median in (3.0, 60.0, 4000.0):
        values = sorted(chance.lognormvariate(0, 1) * median for _ in range(1001))
        histogram = Histogram()
        for value in values:
            histogram.add(_of(value))
        for share, exact in ((0.5, values[500]), (0.95, values[950]), (0.99, values[990])):
            assert histogram.quantile(share) == pytest.approx(exact, rel=0.021)


def _of(value: float) -> Histogram:
    from math import ceil, log

    return Histogram.from_counts({max(0, ceil(log(max(value, 1.0)) / log(1.04))): 1})


def test_no_requests_have_no_quantile(people: People) -> None:
    seen = of_last(people.tenant, timedelta(hours=1), timedelta(minutes=5))
    assert len(seen.points) >= 12
    assert (seen.all.requests, seen.all.ttft.quantile(0.5), seen.multiple, seen.all.injected_share) == (
        0,
        None,
        None,
        None,
    )


@pytest.mark.parametrize(
    ("span", "step"), [(timedelta(hours=6), timedelta(minutes=5)), (timedelta(days=7), timedelta(hours=3))]
)
def test_rolled_up_or_not_the_figures_are_the_same(people: People, span: timedelta, step: timedelta) -> None:
    for tenant, count in ((people.tenant, 400), (people.other_tenant, 60)):
        request_records_write(records(tenant, count, over=span))
    chosen = (people.tenant, people.other_tenant, None)
    before = [figures(of_last(tenant, span, step)) for tenant in chosen]
    assert roll_up(now=NOW - timedelta(hours=2)) > 0
    with every_tenant():
        assert RollUp.objects.exists()
    assert [figures(of_last(tenant, span, step)) for tenant in chosen] == before
    roll_up(now=NOW)
    assert [figures(of_last(tenant, span, step)) for tenant in chosen] == before


def test_repeating_changes_nothing(people: People) -> None:
    request_records_write(records(people.tenant, 200, over=timedelta(hours=8)))
    roll_up(now=NOW)
    before = figures(of_last(people.tenant, timedelta(hours=8), timedelta(minutes=10)))
    assert roll_up(now=NOW) == 0
    assert roll_up(now=NOW, since=NOW - timedelta(hours=3)) >= 180
    assert figures(of_last(people.tenant, timedelta(hours=8), timedelta(minutes=10))) == before


def test_going_back_brings_in_records_that_came_late(people: People) -> None:
    request_records_write(records(people.tenant, 20, over=timedelta(hours=2)))
    roll_up(now=NOW)
    late = records(people.tenant, 7, over=timedelta(minutes=10), until=NOW - timedelta(minutes=30))
    request_records_write(late)
    roll_up(now=NOW, since=NOW - timedelta(minutes=45))
    assert of_last(people.tenant, timedelta(hours=3), timedelta(minutes=5)).all.requests == 27


def test_rolled_up_figures_need_no_records(people: People) -> None:
    request_records_write(records(people.tenant, 50, over=timedelta(days=4)))
    roll_up(now=NOW)
    deleted = request_records_expire(now=NOW, kept=timedelta(days=1))
    with every_tenant():
        left = RequestRecord.objects.order_by("created_at")
        assert left.count() == 50 - deleted < 50
        assert left[0].created_at >= NOW - timedelta(days=1, minutes=NOW.minute, seconds=NOW.second)
    assert of_last(people.tenant, timedelta(days=5), timedelta(hours=3)).all.requests == 50
    roll_up(now=NOW, since=NOW - timedelta(days=5))
    assert of_last(people.tenant, timedelta(days=5), timedelta(hours=3)).all.requests == 50


def test_minutes_are_kept_for_two_days_and_hours_for_good(people: People) -> None:
    request_records_write(records(people.tenant, 300, over=timedelta(days=6)))
    roll_up(now=NOW)
    with every_tenant():
        minutes, hours = (RollUp.objects.filter(seconds=seconds).order_by("start") for seconds in (60, 3600))
        oldest = [rows[0].start for rows in (minutes, hours)]
    assert NOW - timedelta(hours=50) < oldest[0] < NOW - timedelta(hours=40)
    assert oldest[1] < NOW - timedelta(days=5)


def test_the_multiple_compares_medians(people: People) -> None:
    for mode, ttft in (("prompt", 600.0), ("inject", 100.0)):
        data = [
            RequestRecordData(tenant_id=people.tenant.pk, mode=mode, status=200, ttft_ms=ttft, created_at=NOW - age)
            for age, _ in product((timedelta(minutes=5), timedelta(minutes=40)), range(3))
        ]
        request_records_write(data)
    multiple = of_last(people.tenant, timedelta(hours=1), timedelta(minutes=5)).multiple
    assert multiple == pytest.approx(6.0, rel=0.04)
