"""Calls of a key are counted once for memory API and chats; one too many is told when to come back."""

import asyncio

import pytest
import redis
from tenants.models import Tenant
from tenants.services import quota_set

from inference.gateway.errors import ApiError, send_error
from inference.gateway.runtime import Runtime
from tests.api.conftest import Caller
from tests.factories import People
from tests.gateway.echo import Received
from tests.gateway.helpers import ask, chat_key_of


def refused(runtime: Runtime, key: str) -> ApiError:
    with pytest.raises(ApiError) as caught:
        ask(runtime, key)
    return caught.value


def test_one_chat_too_many_is_refused_in_openais_form(runtime: Runtime, tenant: Tenant, broker: redis.Redis) -> None:
    limited, other = (chat_key_of(tenant, requests_per_minute=2) for _ in range(2))
    ask(runtime, limited)
    ask(runtime, limited)
    error = refused(runtime, limited)
    assert (error.status, error.code, error.body()["error"]["type"]) == (429, "rate_limit_exceeded", "rate_limit_error")
    assert error.retry_after is not None
    assert 1 <= error.retry_after <= 60
    ask(runtime, other)


def test_memory_api_and_chats_share_one_budget(runtime: Runtime, tenant: Tenant, broker: redis.Redis) -> None:
    key = chat_key_of(tenant, requests_per_minute=2)
    assert Caller(key).get("/v1/ping/")[0] == 200
    ask(runtime, key)
    assert refused(runtime, key).status == 429
    assert Caller(key).get("/v1/ping/")[0] == 429


def test_without_redis_no_chat_is_refused(
    runtime: Runtime, tenant: Tenant, settings: pytest.FixtureRequest, broker: redis.Redis
) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"  # type: ignore[attr-defined]
    key = chat_key_of(tenant, requests_per_minute=1)
    assert [ask(runtime, key).mode for _ in range(3)] == ["none"] * 3


def test_a_tenants_quota_of_chats_is_refused_in_openais_form(
    runtime: Runtime, people: People, tenant: Tenant, broker: redis.Redis
) -> None:
    quota_set(tenant=tenant, limits={"chats_per_day": 2}, actor="test")
    key, other = chat_key_of(tenant), chat_key_of(tenant)
    ask(runtime, key)
    with pytest.raises(ApiError, match="messages must be"):
        ask(runtime, key, user="alice", messages=[])
    ask(runtime, other, is_chat=False, prompt="Once")
    error = refused(runtime, key)
    assert (error.status, error.body()["error"]["type"]) == (429, "insufficient_quota")
    assert error.retry_after is not None
    assert 1 <= error.retry_after <= 24 * 3600
    ask(runtime, chat_key_of(people.other_tenant))


def test_the_answer_says_how_long_to_wait() -> None:
    received = Received()

    async def send(message: dict[str, object]) -> None:
        received.take(message)

    asyncio.run(send_error(send, ApiError(429, "too often", code="rate_limit_exceeded", retry_after=7)))  # type: ignore[arg-type]
    assert (received.status, received.headers["retry-after"]) == (429, "7")
    assert received.json["error"]["code"] == "rate_limit_exceeded"
