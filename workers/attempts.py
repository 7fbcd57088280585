"""When a task is tried again, and when it is given up."""

import logging
import random
from collections.abc import Callable
from typing import Any

from celery import Task
from django.core.exceptions import ObjectDoesNotExist
from facts.errors import FactGoneError

from workers.blobs import BlobMissing
from workers.port import EngineBroke, EngineDown

MAX_FAILURES = 5
MAX_RETRIES = 8
LONGEST_DELAY = 60.0  # below the grace after which beat takes a pending encoding for lost

logger = logging.getLogger(__name__)


def delay(retries: int) -> float:
    """Seconds: exponential, with jitter so that tasks which failed together do not come back together."""
    return min(LONGEST_DELAY, 2.0**retries) * random.uniform(0.5, 1.0)


def attempt(
    task: "Task[Any, Any]",
    work: Callable[[], object],
    give_up: Callable[[str], object],
    *,
    args: tuple[str, ...],
    failures: int,
) -> None:
    """An engine that is away costs nothing but time; one that fails at this very request may fail for ever."""
    try:
        work()
    except (FactGoneError, ObjectDoesNotExist) as gone:  # whatever took it away has said what is left to do
        logger.info("nothing left to do: %s", gone)
    except EngineDown as error:
        try_later(task, error, args=(*args, failures))
    except (EngineBroke, BlobMissing) as error:
        if failures + 1 >= MAX_FAILURES:
            give_up(f"failed {MAX_FAILURES} times: {error}")
        else:
            try_later(task, error, args=(*args, failures + 1))


def try_later(task: "Task[Any, Any]", error: Exception, *, args: tuple[Any, ...]) -> None:
    """After the last retry what was to be done stays as it is: beat finds it."""
    if task.request.retries >= MAX_RETRIES:
        logger.warning("%s left to beat: %s", task.name, error)
        return
    raise task.retry(exc=error, args=args, countdown=delay(task.request.retries), max_retries=MAX_RETRIES)
