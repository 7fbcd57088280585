"""Medians with their spread, percentiles, and how sure a ratio is."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

import numpy as np
from numpy.typing import NDArray

RESAMPLES = 2000

Values = NDArray[np.float64]
PERCENTILES = (50, 95, 99)


@dataclass(frozen=True)
class Spread:
    """Median and the middle half of the samples."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, samples: Sequence[float]) -> "Spread":
        """Raises ValueError without samples."""
        if not samples:
            raise ValueError("a spread needs samples")
        low, _, high = quantiles(samples, n=4, method="inclusive") if len(samples) > 1 else (samples[0],) * 3
        return cls(median(samples), low, high)

    def __str__(self) -> str:
        return self.text(0)

    def text(self, digits: int) -> str:
        return f"{self.median:.{digits}f} ({self.low:.{digits}f} to {self.high:.{digits}f})"


@dataclass(frozen=True)
class Ratio:
    """How many times one median is another, with the middle 95% of its bootstrap."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, above: Sequence[float], below: Sequence[float]) -> "Ratio":
        """Both resampled with replacement, independently; the same samples give the same interval.

        Raises ValueError without samples.
        """
        if not above or not below:
            raise ValueError("a ratio needs samples of both")
        rng = np.random.default_rng(0)
        medians = [_resampled_medians(np.asarray(samples, dtype=float), rng) for samples in (above, below)]
        low, high = np.percentile(medians[0] / medians[1], (2.5, 97.5))
        return cls(median(above) / median(below), float(low), float(high))

    def __str__(self) -> str:
        return f"{self.value:.2f} ({self.low:.2f} to {self.high:.2f})"


def percentiles(samples: Sequence[float]) -> dict[str, float]:
    """{"p50", "p95", "p99"}, linearly interpolated; empty without samples."""
    if not samples:
        return {}
    values = np.percentile(np.asarray(samples, dtype=float), PERCENTILES)
    return {f"p{percent}": round(float(value), 2) for percent, value in zip(PERCENTILES, values, strict=True)}


def _resampled_medians(samples: Values, rng: np.random.Generator) -> Values:
    drawn = rng.integers(0, len(samples), size=(RESAMPLES, len(samples)))
    return np.asarray(np.median(samples[drawn], axis=1))
