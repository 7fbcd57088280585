"""Redis for what may be lost: asked by all processes together, and never waited for long."""

import logging
import time
from collections.abc import Callable
from functools import lru_cache
from typing import TypeVar

from django.conf import settings
from redis import Redis, RedisError

logger = logging.getLogger(__name__)

SECONDS_TO_WAIT = 0.5
SECONDS_TO_PAUSE = 5.0

Answer = TypeVar("Answer")

_paused_until: dict[str, float] = {}


def ask_redis(question: Callable[[Redis], Answer], *, otherwise: Answer) -> Answer:
    """The question's answer; `otherwise` when Redis is away, and for a few seconds after, without asking again."""
    url = settings.REDIS_URL
    if time.monotonic() < _paused_until.get(url, 0.0):
        return otherwise
    try:
        return question(_client(url))
    except RedisError as error:
        _paused_until[url] = time.monotonic() + SECONDS_TO_PAUSE
        logger.warning("Redis is away, going on without: %s", error)
        return otherwise


@lru_cache(maxsize=4)
def _client(url: str) -> Redis:
    return Redis.from_url(url, socket_connect_timeout=SECONDS_TO_WAIT, socket_timeout=SECONDS_TO_WAIT)
