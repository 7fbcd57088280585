"""Chats are counted by day and month, from the records where nothing is counted yet."""

from datetime import UTC, datetime, timedelta

import pytest
import redis
from tenants.models import AuditEntry, Tenant
from tenants.services import quota_set
from usage.quotas import chat_count, quota_states
from usage.services import RequestRecordData, request_records_write

from tests.factories import People, add_facts, encode_fact

NOW = datetime(2041, 2, 27, 23, 59, tzinfo=UTC)


def limit(tenant: Tenant, **limits: int | None) -> Tenant:
    quota_set(tenant=tenant, limits=limits, actor="test")
    return Tenant.objects.get(pk=tenant.pk)


def record(tenant: Tenant, *times: datetime) -> None:
    request_records_write(
        [RequestRecordData(tenant_id=tenant.pk, mode="none", status=200, created_at=time) for time in times]
    )


def refusal(tenant: Tenant, now: datetime = NOW) -> tuple[str, int] | None:
    used_up = chat_count(tenant=tenant, now=now)
    return (used_up.unit, used_up.seconds) if used_up else None


def test_a_days_quota_is_used_up_until_the_day_ends(tenant: Tenant, broker: redis.Redis) -> None:
    limited = limit(tenant, chats_per_day=2)
    assert [refusal(limited) for _ in range(3)] == [None, None, ("day", 60)]
    assert refusal(limited, NOW + timedelta(minutes=1)) is None


def test_both_periods_count_and_a_refused_chat_counts_in_neither(tenant: Tenant, broker: redis.Redis) -> None:
    limited = limit(tenant, chats_per_day=1, chats_per_month=2)
    assert [refusal(limited) for _ in range(3)] == [None, ("day", 60), ("day", 60)]
    tomorrow = NOW + timedelta(days=1)
    assert [refusal(limited, tomorrow) for _ in range(2)] == [None, ("day", 60)]
    assert refusal(limited, NOW + timedelta(days=1, minutes=2)) is None  # March


def test_a_months_quota_ends_with_the_month(tenant: Tenant, broker: redis.Redis) -> None:
    limited = limit(tenant, chats_per_month=0)
    assert refusal(limited) == ("month", 24 * 3600 + 60)


def test_what_was_used_before_is_counted_from_the_records(tenant: Tenant, broker: redis.Redis) -> None:
    record(tenant, NOW, NOW - timedelta(days=1), NOW - timedelta(days=27))
    limited = limit(tenant, chats_per_day=2, chats_per_month=4)
    assert [refusal(limited) for _ in range(2)] == [None, ("day", 60)]
    broker.flushdb()
    assert refusal(limited) is None
    raised = limit(tenant, chats_per_day=None, chats_per_month=2)
    assert refusal(raised) == ("month", 24 * 3600 + 60)


def test_tenants_are_counted_apart(people: People, tenant: Tenant, broker: redis.Redis) -> None:
    limited, other = limit(tenant, chats_per_day=1), limit(people.other_tenant, chats_per_day=1)
    assert [refusal(limited), refusal(other)] == [None, None]
    assert [refusal(limited), refusal(other)] == [("day", 60), ("day", 60)]


def test_without_redis_no_chat_is_refused(tenant: Tenant, settings: pytest.FixtureRequest) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"  # type: ignore[attr-defined]
    limited = limit(tenant, chats_per_day=0)
    assert refusal(limited) is None


def test_only_what_has_a_limit_is_counted(tenant: Tenant, broker: redis.Redis) -> None:
    encode_fact(add_facts(tenant, "Bob has a dog.")[0])
    record(tenant, NOW)
    assert {state.used for state in quota_states(tenant=tenant, now=NOW)} == {None}
    limited = limit(tenant, facts=9, chats_per_day=7, kv_disk_bytes=10_000)
    assert {state.name: (state.limit, state.used) for state in quota_states(tenant=limited, now=NOW)} == {
        "facts": (9, 1),
        "chats_per_day": (7, 1),
        "chats_per_month": (None, None),
        "kv_disk_bytes": (10_000, 4096),
        "kv_host_bytes": (None, None),
        "kv_gpu_bytes": (None, None),
    }


def test_setting_one_leaves_the_others_and_a_trail(tenant: Tenant) -> None:
    limit(tenant, facts=5, chats_per_day=7)
    quota = limit(tenant, facts=None).quota
    assert (quota.facts, quota.chats_per_day) == (None, 7)
    trail = AuditEntry.objects.filter(action="quota.set").order_by("created_at").values_list("details", flat=True)
    assert list(trail) == [{"facts": 5, "chats_per_day": 7}, {"facts": None}]
