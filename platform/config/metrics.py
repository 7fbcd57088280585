"""A process's own Prometheus page. All names are stable: dashboards and rules are written for them."""

import os

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

MULTIPROCESS = "PROMETHEUS_MULTIPROC_DIR"  # prometheus_client's own: the folder where processes of one service add up
SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)


def exposition(*collectors: Collector) -> tuple[bytes, str]:
    """The page and its content type: the metrics of this process, or of all that share the folder, and `collectors`."""
    registry = REGISTRY
    if os.environ.get(MULTIPROCESS):
        registry = CollectorRegistry()
        MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    page = generate_latest(registry)
    if collectors:
        own = CollectorRegistry()
        for collector in collectors:
            own.register(collector)
        page += generate_latest(own)
    return page, CONTENT_TYPE_LATEST
