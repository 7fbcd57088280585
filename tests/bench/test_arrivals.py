"""Open loops: arrivals are Poisson, whatever the server does."""

import random
from itertools import islice, pairwise
from statistics import mean, pstdev

import pytest

from inference.bench.load.arrivals import poisson_arrivals


def test_arrivals_have_the_rate_and_an_exponentials_spread() -> None:
    times = list(islice(poisson_arrivals(20.0, random.Random(5)), 20_000))
    gaps = [after - before for before, after in pairwise([0.0, *times])]
    assert min(gaps) > 0
    assert mean(gaps) == pytest.approx(1 / 20, rel=0.03)
    assert pstdev(gaps) == pytest.approx(mean(gaps), rel=0.03)


def test_gaps_do_not_depend_on_each_other() -> None:
    times = list(islice(poisson_arrivals(1.0, random.Random(5)), 20_000))
    gaps = [after - before for before, after in pairwise(times)]
    after_long = [after for before, after in pairwise(gaps) if before > 1]
    assert mean(after_long) == pytest.approx(1, rel=0.05)


def test_a_rate_must_be_positive() -> None:
    with pytest.raises(ValueError, match="must be positive, not 0"):
        next(poisson_arrivals(0, random.Random(5)))
