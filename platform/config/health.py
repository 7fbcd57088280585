"""Whether the services that a process leans on answer it."""

import logging
from collections.abc import Callable
from typing import Literal

import redis
from django.conf import settings
from django.db import DatabaseError, connection

logger = logging.getLogger(__name__)

State = Literal["ok", "away"]


def service_states() -> dict[str, State]:
    """By the service's name; each is asked now, and for a second at most."""
    return {"database": _state(_database_answers), "redis": _state(_redis_answers)}


def _database_answers() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")


def _redis_answers() -> None:
    with redis.Redis.from_url(settings.REDIS_URL, socket_connect_timeout=1, socket_timeout=1) as client:
        client.ping()


def _state(check: Callable[[], None]) -> State:
    try:
        check()
    except (DatabaseError, redis.RedisError) as error:
        logger.warning("%s: %s", check.__name__, error)
        return "away"
    return "ok"
