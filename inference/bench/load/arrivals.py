"""When requests of an open loop arrive."""

import random
from collections.abc import Iterator


def poisson_arrivals(rate: float, rng: random.Random) -> Iterator[float]:
    """Seconds since the start, without end: independent arrivals, `rate` a second on average.

    Raises ValueError unless the rate is positive.
    """
    if rate <= 0:
        raise ValueError(f"a rate must be positive, not {rate}")
    at = 0.0
    while True:
        at += rng.expovariate(rate)
        yield at
