"""Medians with their spread."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles


@dataclass(frozen=True)
class Spread:
    """Median and the middle half of the samples."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, samples: Sequence[float]) -> "Spread":
        """Raises StatisticsError without samples."""
        low, _, high = quantiles(samples, n=4, method="inclusive") if len(samples) > 1 else (samples[0],) * 3
        return cls(median(samples), low, high)

    def __str__(self) -> str:
        return f"{self.median:.0f} ({self.low:.0f} to {self.high:.0f})"
