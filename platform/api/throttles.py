"""How many calls a key may make in a minute, counted in Redis for all web processes together."""

import logging
import math
import time
from functools import lru_cache

from django.conf import settings
from limits import RateLimitItemPerMinute
from limits.errors import StorageError
from limits.storage import RedisStorage
from limits.strategies import SlidingWindowCounterRateLimiter
from redis import RedisError
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle
from rest_framework.views import APIView
from tenants.models import ApiKey

logger = logging.getLogger(__name__)
SECONDS_TO_WAIT = 0.5


class KeyThrottle(BaseThrottle):
    """Without Redis nobody is refused: it may be lost at any time, and memory works on."""

    def __init__(self) -> None:
        self._wait: float | None = None

    def allow_request(self, request: Request, view: APIView) -> bool:
        api_key = request.auth
        if not isinstance(api_key, ApiKey):
            return True
        limit = calls_per_minute(api_key)
        if not limit:
            return True
        item = RateLimitItemPerMinute(limit)
        try:
            limiter = _limiter(settings.REDIS_URL)
            if limiter.hit(item, "api", str(api_key.pk)):
                return True
            reset_at = limiter.get_window_stats(item, "api", str(api_key.pk)).reset_time
        except (RedisError, StorageError) as error:
            logger.warning("calls are not counted, Redis is away: %s", error)
            return True
        self._wait = max(1, math.ceil(reset_at - time.time()))
        return False

    def wait(self) -> float | None:
        """Seconds, sent as Retry-After."""
        return self._wait


def calls_per_minute(api_key: ApiKey) -> int:
    """0: without limit."""
    own = api_key.requests_per_minute
    return settings.ENV.requests_per_minute if own is None else own


@lru_cache(maxsize=4)
def _limiter(redis_url: str) -> SlidingWindowCounterRateLimiter:
    address = redis_url.replace("unix://", "redis+unix://", 1)
    storage = RedisStorage(
        address, wrap_exceptions=True, socket_connect_timeout=SECONDS_TO_WAIT, socket_timeout=SECONDS_TO_WAIT
    )
    return SlidingWindowCounterRateLimiter(storage)
