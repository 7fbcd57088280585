"""What a tenant may use, and how much of it is left.

Chats are counted in Redis. Where a count is missing, it begins with the period's request records, which are written a
moment after a chat ends: whoever loses Redis loses no more than that moment. Without Redis no chat is refused.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from math import ceil
from typing import Literal

from config.brief import ask_redis
from facts.selectors import facts_count, kv_bytes
from redis import Redis
from tenants.models import Quota, Tenant
from tenants.scope import tenant_scope
from tenants.selectors import tenant_quota

from usage.holdings import Held, tenant_held_in_memory
from usage.models import RequestRecord

LIMITS = ("facts", "chats_per_day", "chats_per_month", "kv_disk_bytes", "kv_host_bytes", "kv_gpu_bytes")
Unit = Literal["day", "month"]

# 0: counted in all periods; i: the i-th is used up; -i: the i-th has no count yet.
COUNT = """
for i, key in ipairs(KEYS) do
    local used = redis.call('GET', key)
    if not used then return -i end
    if tonumber(used) >= tonumber(ARGV[i]) then return i end
end
for _, key in ipairs(KEYS) do redis.call('INCR', key) end
return 0
"""


@dataclass(frozen=True, slots=True)
class Period:
    """In UTC. Counts are kept under names of the quota's last change, which begins them anew."""

    unit: Unit
    limit: int
    start: datetime
    end: datetime

    def key(self, quota: Quota) -> str:
        return f"chats:{quota.tenant_id}:{quota.updated_at.timestamp()}:{self.unit}:{self.start:%Y-%m-%d}"


@dataclass(frozen=True, slots=True)
class UsedUp:
    """`seconds`: until the next chat may be made."""

    unit: Unit
    limit: int
    seconds: int


@dataclass(frozen=True, slots=True)
class QuotaState:
    """`limit` is None where there is none, and `used` then too: what nothing depends on is not counted. What is used
    of memory is what the engine said last, of all ranks.
    """

    name: str
    limit: int | None
    used: int | None


def chat_count(*, tenant: Tenant, now: datetime) -> UsedUp | None:
    """Count a chat; why it may not be made, if it may not."""
    quota = tenant_quota(tenant=tenant)
    periods = _periods(quota, now)
    if not periods:
        return None

    def count(redis: Redis) -> UsedUp | None:
        keys, limits = [period.key(quota) for period in periods], [period.limit for period in periods]
        for _ in (*periods, None):
            found = int(redis.eval(COUNT, len(keys), *keys, *limits))
            if found >= 0:
                return _used_up(periods[found - 1], now) if found else None
            period, key = periods[-found - 1], keys[-found - 1]
            redis.set(key, _chats(tenant, period), nx=True, exat=period.end + timedelta(hours=1))
        return None

    return ask_redis(count, otherwise=None)


def quota_states(*, tenant: Tenant, now: datetime) -> list[QuotaState]:
    """One a limit there can be, as it stands now."""
    quota = tenant_quota(tenant=tenant)
    used: dict[str, int] = {f"chats_per_{period.unit}": _chats(tenant, period) for period in _periods(quota, now)}
    if quota.facts is not None:
        used["facts"] = facts_count(tenant=tenant)
    if quota.kv_disk_bytes is not None:
        used["kv_disk_bytes"] = kv_bytes(tenant=tenant)
    if tiers := [tier for tier in ("host", "gpu") if getattr(quota, f"kv_{tier}_bytes") is not None]:
        held = tenant_held_in_memory(tenant=tenant)
        used |= {f"kv_{tier}_bytes": held.get(tier, Held()).bytes for tier in tiers}
    return [QuotaState(name, getattr(quota, name), used.get(name)) for name in LIMITS]


def _periods(quota: Quota, now: datetime) -> Sequence[Period]:
    """Those with a limit."""
    day = now.astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    month = day.replace(day=1)
    ends: dict[Unit, tuple[datetime, datetime]] = {
        "day": (day, day + timedelta(days=1)),
        "month": (month, (month + timedelta(days=32)).replace(day=1)),
    }
    limits: dict[Unit, int | None] = {"day": quota.chats_per_day, "month": quota.chats_per_month}
    return [Period(unit, limit, *ends[unit]) for unit, limit in limits.items() if limit is not None]


def _used_up(period: Period, now: datetime) -> UsedUp:
    return UsedUp(period.unit, period.limit, max(1, ceil((period.end - now).total_seconds())))


def _chats(tenant: Tenant, period: Period) -> int:
    with tenant_scope(tenant):
        return RequestRecord.objects.filter(created_at__gte=period.start, created_at__lt=period.end).count()
