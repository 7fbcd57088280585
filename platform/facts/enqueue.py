"""Sending tasks by name, without ever failing or holding up the write that asks for it.

A task that could not be sent is found again by the worker's beat: the database says what is left to do.
"""

import logging
import threading
import time
from collections.abc import Sequence
from typing import Any

from kombu import Connection
from kombu.pools import producers

logger = logging.getLogger(__name__)

ENCODE_FACT = "workers.encode.encode_fact"
EXTRACT_FACTS = "workers.extract.extract_facts"
DROP_STALE = "workers.tiering.drop_stale"
DELIVER = "workers.webhooks.deliver"
RUN_JOB = "workers.jobs.run"

SECONDS_TO_WAIT = 0.5
SECONDS_TO_PAUSE = 5.0

_paused_until = 0.0
_lock = threading.Lock()


def enqueue(name: str, *args: object) -> bool:
    """Whether the broker took the task."""
    return enqueue_many(name, [args]) == 1


def enqueue_many(name: str, calls: Sequence[Sequence[object]]) -> int:
    """How many the broker took; the first failure ends it, and no broker is asked for a few seconds after one."""
    global _paused_until
    from config.celery import app

    if not calls or time.monotonic() < _paused_until:
        return 0
    sent = 0
    try:
        with producers[_connection()].acquire(block=True, timeout=SECONDS_TO_WAIT) as producer:
            for args in calls:
                app.send_task(name, args=[str(arg) for arg in args], producer=producer, retry=False)
                sent += 1
    except Exception as error:  # whatever the broker's client raises, the write stands
        with _lock:
            _paused_until = time.monotonic() + SECONDS_TO_PAUSE
        logger.warning("broker away, %d of %s left to beat: %s", len(calls) - sent, name, error)
    return sent


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
