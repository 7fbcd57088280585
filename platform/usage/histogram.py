"""Latencies as counts by size, which can be added up: over minutes, hours, tenants."""

from collections.abc import Mapping
from math import ceil

import numpy as np

FIRST_MS = 1.0
GROWTH = 1.04  # a quantile is told within 2%
BUCKETS = 320  # the last begins at 270 s

# The bucket of a column of milliseconds.
BUCKET_SQL = f"least({BUCKETS - 1}, ceil(ln(greatest({{column}}, {FIRST_MS}) / {FIRST_MS}) / ln({GROWTH})))"


class Histogram:
    """Bucket 0 holds what is up to FIRST_MS, bucket i what is up to GROWTH times as much as bucket i - 1."""

    def __init__(self, counts: np.ndarray | None = None) -> None:
        self._counts = np.zeros(BUCKETS, dtype=np.int64) if counts is None else counts

    @classmethod
    def from_counts(cls, counts: Mapping[int, int]) -> "Histogram":
        histogram = cls()
        for bucket, count in counts.items():
            histogram._counts[bucket] += count
        return histogram

    @classmethod
    def from_bytes(cls, stored: bytes | memoryview) -> "Histogram":
        return cls(np.frombuffer(stored, dtype="<u4"))

    def to_bytes(self) -> bytes:
        """Little-endian uint32, one a bucket."""
        return self._counts.astype("<u4").tobytes()

    def add(self, other: "Histogram") -> None:
        """Only to one that was not read from bytes."""
        self._counts += other._counts

    @property
    def count(self) -> int:
        return int(self._counts.sum())

    def quantile(self, share: float) -> float | None:
        """Milliseconds, the geometric middle of the bucket; None when nothing was counted."""
        total = self.count
        if total == 0:
            return None
        rank = max(1, ceil(share * total))
        bucket = int(np.searchsorted(np.cumsum(self._counts), rank))
        return float(FIRST_MS * GROWTH ** (bucket - 0.5)) if bucket else FIRST_MS
