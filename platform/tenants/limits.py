"""How many calls a key may make in a minute: one count for memory API and chats, kept in Redis for all processes."""

import math
import time
from functools import lru_cache

from config.brief import ask_redis
from django.conf import settings
from limits import RateLimitItemPerMinute
from limits.storage import RedisStorage
from limits.strategies import SlidingWindowCounterRateLimiter
from redis import Redis

from tenants.models import ApiKey


def call_count(api_key: ApiKey) -> int:
    """Count a call; 0 when it may be made, else the seconds after which one may. Without Redis none is refused."""
    limit = calls_per_minute(api_key)
    if not limit:
        return 0
    item, names = RateLimitItemPerMinute(limit), ("api", str(api_key.pk))

    def count(redis: Redis) -> int:
        limiter = _limiter(redis)
        if limiter.hit(item, *names):
            return 0
        reset_at = limiter.get_window_stats(item, *names).reset_time
        return max(1, math.ceil(reset_at - time.time()))

    return ask_redis(count, otherwise=0)


def calls_per_minute(api_key: ApiKey) -> int:
    """0: without limit."""
    own = api_key.requests_per_minute
    return settings.ENV.requests_per_minute if own is None else own


@lru_cache(maxsize=4)
def _limiter(redis: Redis) -> SlidingWindowCounterRateLimiter:
    return SlidingWindowCounterRateLimiter(RedisStorage("redis://", connection_pool=redis.connection_pool))
