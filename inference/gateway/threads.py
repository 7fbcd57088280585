"""Threads for what must not hold up the event loop: the database, the tokenizer, the embedding model."""

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from functools import partial
from typing import ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError, close_old_connections, connection

P = ParamSpec("P")
T = TypeVar("T")
THREADS = 16

_pool = ThreadPoolExecutor(THREADS, thread_name_prefix="gateway")


async def in_thread(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run with a database connection of the thread's own; once more when the database had closed it meanwhile."""
    work = partial(_connected, function, *args, **kwargs)
    return await asyncio.get_running_loop().run_in_executor(_pool, copy_context().run, work)


def _connected(function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    close_old_connections()
    was_open = connection.connection is not None
    # Django's check is a query before the first one of each request; running that one again is cheaper.
    connection.health_check_done = True  # type: ignore[attr-defined]
    try:
        return function(*args, **kwargs)
    except (OperationalError, InterfaceError):
        if not was_open or connection.is_usable():
            raise
        connection.close()
        return function(*args, **kwargs)
