"""What a worker counts of its tasks, whose request a task belongs to, and the port where both are asked for."""

import logging
import time
from collections.abc import Iterable
from contextlib import suppress
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import redis
from celery import Task
from celery.signals import (
    heartbeat_sent,
    task_failure,
    task_postrun,
    task_prerun,
    task_retry,
    worker_init,
    worker_process_init,
    worker_process_shutdown,
    worker_ready,
    worker_shutdown,
)
from config.metrics import SECONDS, exposition
from config.request_id import TASK_HEADER, current_request_id
from config.tracing import Span, begin_span, end_tracing, start_tracing
from django.conf import settings
from prometheus_client import Counter, Histogram
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

QUEUES = ("encode", "tiering", "extract", "deliver", "default")
SILENT_SECONDS = 60.0

TASKS = Counter("inferscale_worker_tasks", "Tasks that ended: done, to be tried again, or failed.", ("task", "end"))
DURATION = Histogram("inferscale_worker_task_seconds", "From a task's start to its end.", ("task",), buckets=SECONDS)

logger = logging.getLogger(__name__)
_started: dict[str, float] = {}
_spans: dict[str, Span] = {}
_unhappy: dict[str, str] = {}
_heard = 0.0


@worker_process_init.connect
def trace_process(**_: object) -> None:
    start_tracing("worker")


@worker_init.connect
def trace_threads(sender: Any, **_: object) -> None:
    """Where tasks run in the worker's own process, which is then not forked."""
    if sender.app.conf.worker_pool == "threads":
        start_tracing("worker")


@worker_process_shutdown.connect
@worker_shutdown.connect
def send_last_spans(**_: object) -> None:
    end_tracing()


@task_prerun.connect
def begin(task_id: str, task: "Task[Any, Any]", **_: object) -> None:
    current_request_id.set(str(task.request.get(TASK_HEADER) or task_id))
    _started[task_id] = time.perf_counter()
    _spans[task_id] = begin_span(task.name, "consumer", task.request)


@task_retry.connect
def again(request: Any, sender: "Task[Any, Any]", **_: object) -> None:
    _unhappy[request.id] = "again"
    TASKS.labels(sender.name, "again").inc()


@task_failure.connect
def failed(task_id: str, sender: "Task[Any, Any]", **_: object) -> None:
    _unhappy[task_id] = "failed"
    TASKS.labels(sender.name, "failed").inc()


@task_postrun.connect
def end(task_id: str, task: "Task[Any, Any]", **_: object) -> None:
    if (started := _started.pop(task_id, None)) is not None:
        DURATION.labels(task.name).observe(time.perf_counter() - started)
    how = _unhappy.pop(task_id, "done")
    if how == "done":
        TASKS.labels(task.name, "done").inc()
    if (span := _spans.pop(task_id, None)) is not None:
        span.end({"celery.task_id": task_id, "inferscale.end": how}, failed=how == "failed")
    current_request_id.set("")


@heartbeat_sent.connect
def hear(**_: object) -> None:
    global _heard
    _heard = time.monotonic()


@worker_ready.connect
def open_port(**_: object) -> None:
    if settings.ENV.worker_port:
        server = ThreadingHTTPServer((settings.ENV.worker_host, settings.ENV.worker_port), Handler)
        Thread(target=server.serve_forever, name="metrics", daemon=True).start()


class QueueLengths(Collector):
    """Asked of the broker at each scrape; every worker says the same."""

    def collect(self) -> Iterable[GaugeMetricFamily]:
        family = GaugeMetricFamily("inferscale_queue_tasks", "Tasks that no worker has taken.", labels=["queue"])
        with suppress(redis.RedisError), redis.Redis.from_url(settings.REDIS_URL, socket_timeout=2) as client:
            for queue in QUEUES:
                family.add_metric([queue], float(str(client.llen(queue))))
        yield family


class Handler(BaseHTTPRequestHandler):
    """/metrics, and /health: whether the worker's own loop has run lately, which it does not without the broker."""

    def do_GET(self) -> None:
        if self.path == "/metrics":
            self._send(HTTPStatus.OK, *exposition(QueueLengths()))
        elif self.path == "/health":
            runs = time.monotonic() - _heard < SILENT_SECONDS
            self._send(HTTPStatus.OK if runs else HTTPStatus.SERVICE_UNAVAILABLE, b"", "text/plain")
        else:
            self._send(HTTPStatus.NOT_FOUND, b"", "text/plain")

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: it is asked every few seconds."""

    def _send(self, status: HTTPStatus, body: bytes, content_type: str) -> None:
        self.send_response(status)
        self.send_header("content-type", content_type)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
