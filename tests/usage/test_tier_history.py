"""Totals of an engine that may start again become counts by sample."""

from datetime import datetime, timedelta

import pytest
from django.utils import timezone
from usage.selectors import tier_history
from usage.services import TierSampleData, tier_samples_delete, tier_samples_write

pytestmark = pytest.mark.django_db
START = timezone.now()


def minute(number: int) -> datetime:
    return START + timedelta(minutes=number)


def write(number: int, hits: int, *, filled: int = 50, tier: str = "gpu") -> None:
    sample = TierSampleData(tier=tier, bytes=100, bytes_used=number, hits=hits, filled=filled, evicted=0, lost=0)
    tier_samples_write([sample], time=minute(number))


def test_counts_are_those_since_the_sample_before() -> None:
    for number, hits in enumerate((10, 15, 15)):
        write(number, hits)
    points = tier_history(since=START)["gpu"]
    assert [(point.time, point.bytes_used, point.hits) for point in points] == [(minute(1), 1, 5), (minute(2), 2, 0)]


def test_after_a_restart_the_totals_count_from_zero() -> None:
    write(0, 10, filled=50)
    write(1, 12, filled=3)
    (point,) = tier_history(since=START)["gpu"]
    assert (point.hits, point.filled) == (12, 3)


def test_tiers_are_told_apart_and_the_past_is_left_out() -> None:
    for number in range(3):
        write(number, 10 * number)
        write(number, 100 * number, tier="host")
    history = tier_history(since=minute(1))
    assert {tier: [point.hits for point in points] for tier, points in history.items()} == {"gpu": [10], "host": [100]}


def test_the_old_are_deleted() -> None:
    for number in range(3):
        write(number, 10 * number)
    assert tier_samples_delete(before=minute(1)) == 1
    assert [point.hits for point in tier_history(since=START)["gpu"]] == [10]
