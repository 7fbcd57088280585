"""All tasks, for the worker to register."""

import torch
from celery.signals import worker_process_init

from workers import encode, tiering

__all__ = ["encode", "tiering"]


@worker_process_init.connect
def leave_cores_to_the_engine(**_: object) -> None:
    torch.set_num_threads(1)
