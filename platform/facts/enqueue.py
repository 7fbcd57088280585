"""Sending tasks by name, without ever failing or holding up the write that asks for it.

A task that could not be sent is found again by the worker's beat: the database says what is left to do.
"""

import logging
import threading
import time
from collections.abc import Sequence
from typing import Any

from config.request_id import TASK_HEADER, current_request_id
from config.tracing import trace_headers
from kombu import Connection
from kombu.pools import producers

logger = logging.getLogger(__name__)

ENCODE_FACT = "workers.encode.encode_fact"
EXTRACT_FACTS = "workers.extract.extract_facts"
DROP_STALE = "workers.tiering.drop_stale"
AUDIT = "workers.tiering.audit"
DROP_TENANTS_KV = "workers.tiering.drop_tenants_kv"
FOLLOW_ACTIVITY = "workers.tiering.follow_activity"
DELIVER = "workers.webhooks.deliver"
RUN_JOB = "workers.jobs.run"
DELETE_TENANT = "workers.tenants.delete"

MOST_WAITING = {DELIVER: 1000}  # in the queue of tasks that servers of others can hold up
SECONDS_TO_WAIT = 0.5
SECONDS_TO_PAUSE = 5.0

_paused_until = 0.0
_lock = threading.Lock()


def enqueue(name: str, *args: object) -> bool:
    """Whether the broker took the task."""
    return enqueue_many(name, [args]) == 1


def enqueue_many(name: str, calls: Sequence[Sequence[object]]) -> int:
    """How many the broker took, the first of `calls`; of the tasks in MOST_WAITING what their queue has room for.

    The first failure ends it, and no broker is asked for a few seconds after one.
    """
    global _paused_until
    from config.celery import app

    if not calls or time.monotonic() < _paused_until:
        return 0
    sent, headers = 0, {TASK_HEADER: current_request_id.get(), **trace_headers()}
    try:
        with producers[_connection()].acquire(block=True, timeout=SECONDS_TO_WAIT) as producer:
            for args in calls[: _room(name, producer.channel)]:
                app.send_task(name, args=[str(arg) for arg in args], producer=producer, retry=False, headers=headers)
                sent += 1
    except Exception as error:  # whatever the broker's client raises, the write stands
        with _lock:
            _paused_until = time.monotonic() + SECONDS_TO_PAUSE
        logger.warning("broker away, %d of %s left to beat: %s", len(calls) - sent, name, error)
    return sent


def _room(name: str, channel: Any) -> int | None:
    from config.celery import app

    if name not in MOST_WAITING:
        return None
    queue = app.amqp.router.route({}, name)["queue"].name
    return max(0, MOST_WAITING[name] - int(channel.queue_declare(queue=queue).message_count))


def _connection() -> Connection:
    """Its own pool: a worker's connection may block for long, this one must not."""
    from config.celery import app

    options: dict[str, Any] = {
        **app.conf.broker_transport_options,
        "socket_connect_timeout": SECONDS_TO_WAIT,
        "socket_timeout": SECONDS_TO_WAIT,
        "max_retries": 1,
        "interval_start": 0,
        "interval_step": 0,
        "interval_max": 0,
        "connect_retries_timeout": SECONDS_TO_WAIT,
    }
    connection: Connection = app.connection_for_write(transport_options=options)
    return connection
