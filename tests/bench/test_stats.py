"""Statistics say no more than the samples do."""

import random

import pytest

from inference.bench.stats import Ratio, Spread, percentiles


def test_spread_is_median_and_middle_half() -> None:
    spread = Spread.of([5, 1, 2, 3, 4])
    assert (spread.median, spread.low, spread.high) == (3, 2, 4)
    assert spread.text(1) == "3.0 (2.0 to 4.0)"
    assert Spread.of([7]) == Spread(7, 7, 7)
    with pytest.raises(ValueError, match="needs samples"):
        Spread.of([])


def test_percentiles_are_interpolated() -> None:
    assert percentiles(list(range(101))) == {"p50": 50.0, "p95": 95.0, "p99": 99.0}
    assert percentiles([]) == {}


def test_a_ratios_interval_holds_the_truth_and_narrows_with_samples() -> None:
    rng = random.Random(1)

    def samples(middle: float, count: int) -> list[float]:
        return [rng.gauss(middle, middle / 10) for _ in range(count)]

    few, many = (Ratio.of(samples(40, count), samples(10, count)) for count in (10, 400))
    for ratio in (few, many):
        assert ratio.low < 4 < ratio.high
        assert ratio.low <= ratio.value <= ratio.high
    assert many.high - many.low < (few.high - few.low) / 2


def test_the_same_samples_give_the_same_interval() -> None:
    above, below = [3.0, 4.0, 5.0], [1.0, 2.0, 1.5]
    assert Ratio.of(above, below) == Ratio.of(above, below)


def test_a_ratio_needs_samples_of_both() -> None:
    with pytest.raises(ValueError, match="samples of both"):
        Ratio.of([1.0], [])
