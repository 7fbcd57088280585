"""All tasks, for the worker to register."""

import logging

import torch
from celery.signals import worker_process_init

from workers import encode, tiering

__all__ = ["encode", "tiering"]

logging.getLogger("httpx").setLevel(logging.WARNING)  # Celery shows every library's INFO


@worker_process_init.connect
def leave_cores_to_the_engine(**_: object) -> None:
    torch.set_num_threads(1)
