"""What the connector did, for vLLM's log and its /metrics."""

from typing import Any

from prometheus_client import REGISTRY
from vllm.config import VllmConfig
from vllm.distributed.kv_transfer.kv_connector.v1.metrics import (
    KVConnectorPromMetrics,
    KVConnectorStats,
    PromMetric,
    PromMetricT,
)

PREFIX = "inferscale:"
COUNTERS = {
    "injected_requests": "Requests that had KV injected.",
    "injected_tokens": "Prompt tokens whose KV was injected instead of prefilled.",
    "refused_segments": "Segments offered for injection that are not the prompt's own tokens.",
    "encoded_spans": "Spans read from the cache after an encode request.",
    "lost_blobs": "Blobs that were missing, corrupt or another model's when asked for.",
    "disk_hits": "Blobs read from disk.",
    "near_lookups": "Blobs that requests came for.",
    "near_found": "Those of them that lay in the arena beside the paged cache.",
    "far_lookups": "Blobs that requests came for and that did not lie there.",
    "far_found": "Those of them that lay in pinned host memory.",
    "near_hits": "Blobs injected from the arena beside the paged cache.",
    "near_filled": "Blobs that came into the arena beside the paged cache.",
    "near_evicted": "Blobs that left that arena to make room.",
    "far_hits": "Blobs copied up from pinned host memory.",
    "far_filled": "Blobs that came into pinned host memory.",
    "far_evicted": "Blobs that left pinned host memory to make room.",
}
GAUGES = {
    "near_rows": "Token rows of the arena beside the paged cache.",
    "near_rows_used": "Token rows of that arena that hold a blob.",
    "near_blobs": "Blobs in that arena.",
    "far_blobs": "Blobs in pinned host memory.",
    "far_rows": "Token rows of pinned host memory.",
    "far_rows_used": "Token rows of pinned host memory that hold a blob.",
    "row_bytes": "Bytes of one token row on one rank.",
}


class ConnectorStats(KVConnectorStats):
    """Counts since the last report by the names in COUNTERS, and present values by those in GAUGES."""

    def add(self, name: str, count: int = 1) -> None:
        self.data[name] = self.data.get(name, 0) + count

    def set(self, name: str, value: int) -> None:
        self.data[name] = value

    def reset(self) -> None:
        self.data = {}

    def aggregate(self, other: KVConnectorStats) -> "ConnectorStats":
        for name, value in other.data.items():
            if name in GAUGES:
                self.set(name, value)
            else:
                self.add(name, value)
        return self

    def reduce(self) -> dict[str, int | float]:
        return dict(self.data)

    def is_empty(self) -> bool:
        return not any(self.data.values())


class ConnectorMetrics(KVConnectorPromMetrics):
    """`inferscale:<name>_total` and, for present values, `inferscale:<name>` on the engine's /metrics."""

    def __init__(
        self,
        vllm_config: VllmConfig,
        metric_types: dict[type[PromMetric], type[PromMetricT]],
        labelnames: list[str],
        per_engine_labelvalues: dict[int, list[object]],
    ) -> None:
        super().__init__(vllm_config, metric_types, labelnames, per_engine_labelvalues)
        _unregister_earlier()
        self._metrics: dict[tuple[str, int], Any] = {}
        counter: Any = self._counter_cls
        gauge: Any = self._gauge_cls
        made = {name: counter(PREFIX + name, text, labelnames) for name, text in COUNTERS.items()}
        for name, text in GAUGES.items():  # several API servers report in turn
            made[name] = gauge(PREFIX + name, text, labelnames, multiprocess_mode="mostrecent")
        for name, metric in made.items():
            for engine, values in per_engine_labelvalues.items():
                self._metrics[name, engine] = metric.labels(*values)

    def observe(self, transfer_stats_data: dict[str, Any], engine_idx: int = 0) -> None:
        for name, value in transfer_stats_data.items():
            metric = self._metrics[name, engine_idx]
            if name in GAUGES:
                metric.set(value)
            else:
                metric.inc(value)


def _unregister_earlier() -> None:
    """A process may start one engine after another, and a counter may be registered once; vLLM does so for its own."""
    for collector in list(REGISTRY._collector_to_names):
        if str(getattr(collector, "_name", "")).startswith(PREFIX):
            REGISTRY.unregister(collector)
