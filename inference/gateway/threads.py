"""Threads for what must not hold up the event loop: the database, the tokenizer, the embedding model."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import close_old_connections

P = ParamSpec("P")
T = TypeVar("T")
THREADS = 16

_pool = ThreadPoolExecutor(THREADS, thread_name_prefix="gateway")


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run with a live database connection of the thread's own."""
    return await asyncio.get_running_loop().run_in_executor(_pool, partial(_connected, function, *args, **kwargs))


def _connected(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    close_old_connections()
    try:
        return function(*args, **kwargs)
    finally:
        close_old_connections()
