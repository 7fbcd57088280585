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
    "staged_blobs": "Blobs asked for from disk.",
    "lost_blobs": "Blobs that were missing, corrupt or another model's when asked for.",
    "dropped_blobs": "Blobs dropped from host memory: evicted for space, or on demand.",
}


class ConnectorStats(KVConnectorStats):
    """Counts since the last report, by the names in COUNTERS."""

    def add(self, name: str, count: int = 1) -> None:
        self.data[name] = self.data.get(name, 0) + count

    def reset(self) -> None:
        self.data = {}

    def aggregate(self, other: KVConnectorStats) -> "ConnectorStats":
        for name, count in other.data.items():
            self.add(name, count)
        return self

    def reduce(self) -> dict[str, int | float]:
        return dict(self.data)

    def is_empty(self) -> bool:
        return not any(self.data.values())


class ConnectorMetrics(KVConnectorPromMetrics):
    """`inferscale:<name>_total` on the engine's /metrics."""

    def __init__(
        self,
        vllm_config: VllmConfig,
        metric_types: dict[type[PromMetric], type[PromMetricT]],
        labelnames: list[str],
        per_engine_labelvalues: dict[int, list[object]],
    ) -> None:
        super().__init__(vllm_config, metric_types, labelnames, per_engine_labelvalues)
        _unregister_earlier()
        counters: dict[str, Any] = {
            name: self._counter_cls(PREFIX + name, documentation=text, labelnames=labelnames)
            for name, text in COUNTERS.items()
        }
        self._counters = {
            (name, engine): counter.labels(*values)
            for name, counter in counters.items()
            for engine, values in per_engine_labelvalues.items()
        }

    def observe(self, transfer_stats_data: dict[str, Any], engine_idx: int = 0) -> None:
        for name, count in transfer_stats_data.items():
            self._counters[name, engine_idx].inc(count)


def _unregister_earlier() -> None:
    """A process may start one engine after another, and a counter may be registered once; vLLM does so for its own."""
    for collector in list(REGISTRY._collector_to_names):
        if str(getattr(collector, "_name", "")).startswith(PREFIX):
            REGISTRY.unregister(collector)
