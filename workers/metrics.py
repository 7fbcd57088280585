"""The connector's metrics, as the engine's /metrics has them."""

from collections import defaultdict
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

PREFIX = "inferscale:"


@dataclass(frozen=True, slots=True)
class TierUse:
    """One tier. Counts are of blobs, since the engine's start; bytes are one rank's."""

    rows: int
    rows_used: int
    row_bytes: int
    hits: int
    filled: int
    evicted: int

    @property
    def bytes(self) -> int:
        return self.rows * self.row_bytes

    @property
    def bytes_used(self) -> int:
        return self.rows_used * self.row_bytes


@dataclass(frozen=True, slots=True)
class EngineMetrics:
    """`near` is the tier that injection reads, `far` the one behind it, without rows where there is none.

    All is 0 before the connector's first report. `lost`: blobs that could not be read, whichever tier they were for.
    """

    near: TierUse
    far: TierUse
    lost: int

    @property
    def tiers(self) -> dict[str, TierUse]:
        """By the tier's name; without a GPU the near one is host memory."""
        if self.far.rows:
            return {"gpu": self.near, "host": self.far}
        return {"host": self.near} if self.near.rows else {}


def parse_metrics(page: str) -> EngineMetrics:
    """Summed over engines, but for `row_bytes`. Raises ValueError on what is not Prometheus' text format."""
    sums, largest = defaultdict[str, float](float), defaultdict[str, float](float)
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            sums[sample.name] += sample.value
            largest[sample.name] = max(largest[sample.name], sample.value)

    def tier(name: str) -> TierUse:
        return TierUse(
            rows=int(sums[f"{PREFIX}{name}_rows"]),
            rows_used=int(sums[f"{PREFIX}{name}_rows_used"]),
            row_bytes=int(largest[f"{PREFIX}row_bytes"]),
            hits=int(sums[f"{PREFIX}{name}_hits_total"]),
            filled=int(sums[f"{PREFIX}{name}_filled_total"]),
            evicted=int(sums[f"{PREFIX}{name}_evicted_total"]),
        )

    return EngineMetrics(tier("near"), tier("far"), int(sums[f"{PREFIX}lost_blobs_total"]))
