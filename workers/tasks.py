"""All tasks, for the worker to register, and what a worker does when it starts and ends."""

import logging
from typing import Any

import torch
from celery.signals import worker_init, worker_process_init, worker_shutdown
from django.conf import settings

from workers import encode, extract, jobs, observing, tenants, tiering, upkeep, webhooks
from workers.local import local_encoder
from workers.port import EngineDown
from workers.sweeping import QUEUE

__all__ = ["encode", "extract", "jobs", "observing", "tenants", "tiering", "upkeep", "webhooks"]

logging.getLogger("httpx").setLevel(logging.WARNING)  # Celery shows every library's INFO


@worker_process_init.connect
def leave_cores_to_the_engine(**_: object) -> None:
    torch.set_num_threads(1)


@worker_init.connect
def start_local_engine(sender: Any, **_: object) -> None:
    """Before the first task: a worker that cannot encode takes none, and ends."""
    if settings.ENV.encoder == "local" and QUEUE in sender.app.amqp.queues.consume_from:
        torch.set_num_threads(1)
        try:
            local_encoder().start()
        except EngineDown as error:
            raise SystemExit(str(error)) from error  # Celery logs other exceptions and goes on


@worker_shutdown.connect
def stop_local_engine(**_: object) -> None:
    local_encoder().stop()
