"""Totals of an engine that may start again become counts by step."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone
from usage.tiers import (
    TierFlow,
    TierPoint,
    TierSampleData,
    tier_flow,
    tier_samples_delete,
    tier_samples_write,
    tier_traffic,
    tiers_now,
)

pytestmark = pytest.mark.django_db
START = timezone.now()
MINUTE = timedelta(minutes=1)


def minute(number: int) -> datetime:
    return START + number * MINUTE


def write(number: int, hits: int, *, filled: int = 50, tier: str = "gpu", lookups: int = 0, found: int = 0) -> None:
    sample = TierSampleData(
        tier=tier,
        bytes=100,
        bytes_used=number,
        hits=hits,
        filled=filled,
        evicted=0,
        lost=0,
        lookups=lookups,
        found=found,
    )
    tier_samples_write([sample], time=minute(number))


def traffic(since: int = 0, until: int = 60, step: timedelta = MINUTE) -> dict[str, list[TierPoint]]:
    return tier_traffic(since=minute(since), until=minute(until), step=step)


def test_counts_are_those_since_the_sample_before() -> None:
    for number, hits in enumerate((10, 15, 15)):
        write(number, hits)
    points = traffic()["gpu"]
    found = [(point.start, point.bytes_used, point.flow.hits) for point in points]
    assert found == [(minute(1), 1, 5), (minute(2), 2, 0)]


def test_after_a_restart_the_totals_count_from_zero() -> None:
    write(0, 10, filled=50)
    write(1, 12, filled=3)
    (point,) = traffic()["gpu"]
    assert (point.flow.hits, point.flow.filled) == (12, 3)


def test_a_step_sums_its_samples_and_has_the_bytes_of_its_end() -> None:
    for number in range(11):
        write(number, 10 * number)
    points = traffic(step=5 * MINUTE)["gpu"]
    found = [(point.start, point.bytes_used, point.flow.hits) for point in points]
    assert found == [(minute(0), 4, 40), (minute(5), 9, 50), (minute(10), 10, 10)]
    assert tier_flow(points).hits == 100


def test_tiers_are_told_apart_and_stand_as_the_model_reads_them() -> None:
    for number in range(3):
        for tier, factor in (("host", 100), ("disk", 1), ("gpu", 10)):
            write(number, factor * number, tier=tier)
    found = {tier: [point.flow.hits for point in points] for tier, points in traffic(since=1).items()}
    assert list(found.items()) == [("gpu", [10]), ("host", [100]), ("disk", [1])]
    assert {tier: sample.hits for tier, sample in tiers_now().items()} == {"gpu": 20, "host": 200, "disk": 2}


def test_the_hit_rate_is_of_what_was_looked_for() -> None:
    write(0, 0, lookups=10, found=10)
    write(1, 0, lookups=50, found=40)
    assert tier_flow(traffic()["gpu"]).hit_rate == 30 / 40
    assert TierFlow().hit_rate is None


def test_the_old_are_deleted() -> None:
    for number in range(3):
        write(number, 10 * number)
    assert tier_samples_delete(before=minute(1)) == 1
    assert [point.flow.hits for point in traffic()["gpu"]] == [10]
