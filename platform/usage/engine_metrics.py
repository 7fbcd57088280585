"""What the engine's /metrics says of its scheduler and of the connector."""

from collections import defaultdict
from dataclasses import dataclass

from prometheus_client.parser import text_string_to_metric_families

PREFIX = "inferscale:"
VLLM = "vllm:"


@dataclass(frozen=True, slots=True)
class TierUse:
    """One tier. Counts are of blobs, since the engine's start; bytes are one rank's.

    `lookups`: blobs that requests came for and no nearer tier had; `found` those of them that lay here.
    """

    rows: int
    rows_used: int
    row_bytes: int
    hits: int
    filled: int
    evicted: int
    blobs: int = 0
    lookups: int = 0
    found: int = 0

    @property
    def bytes(self) -> int:
        return self.rows * self.row_bytes

    @property
    def bytes_used(self) -> int:
        return self.rows_used * self.row_bytes


@dataclass(frozen=True, slots=True)
class SchedulerLoad:
    """Requests at this moment; `kv_cache_used` is a share of 1; `preemptions` are counted since the engine's start."""

    running: int
    waiting: int
    preemptions: int
    kv_cache_used: float


@dataclass(frozen=True, slots=True)
class EngineMetrics:
    """`near` is the tier that injection reads, `far` the one behind it, without rows where there is none.

    All is 0 before the connector's first report. `lost`: blobs that could not be read, whichever tier they were for;
    `disk_hits`: those that were read from disk, `encoded`: those that were written there.
    """

    near: TierUse
    far: TierUse
    lost: int
    load: SchedulerLoad
    disk_hits: int = 0
    encoded: int = 0

    @property
    def tiers(self) -> dict[str, TierUse]:
        """By the tier's name; without a GPU the near one is host memory."""
        if self.far.rows:
            return {"gpu": self.near, "host": self.far}
        return {"host": self.near} if self.near.rows else {}


def parse_metrics(page: str) -> EngineMetrics:
    """Summed over engines, but for `row_bytes` and the fullest paged cache.

    Raises ValueError on what is not Prometheus' text format.
    """
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
            blobs=int(sums[f"{PREFIX}{name}_blobs"]),
            lookups=int(sums[f"{PREFIX}{name}_lookups_total"]),
            found=int(sums[f"{PREFIX}{name}_found_total"]),
        )

    load = SchedulerLoad(
        running=int(sums[f"{VLLM}num_requests_running"]),
        waiting=int(sums[f"{VLLM}num_requests_waiting"]),
        preemptions=int(sums[f"{VLLM}num_preemptions_total"]),
        kv_cache_used=largest[f"{VLLM}kv_cache_usage_perc"],
    )
    return EngineMetrics(
        near=tier("near"),
        far=tier("far"),
        lost=int(sums[f"{PREFIX}lost_blobs_total"]),
        load=load,
        disk_hits=int(sums[f"{PREFIX}disk_hits_total"]),
        encoded=int(sums[f"{PREFIX}encoded_spans_total"]),
    )
