"""A key that calls too often is told when to come back; others are not held up, and nobody is when Redis is away."""

import pytest
import redis
from django.test import Client
from tenants.models import Tenant
from tenants.services import api_key_create

from tests.api.conftest import Caller

PING = "/v1/ping/"


def caller(tenant: Tenant, limit: int | None) -> Caller:
    return Caller(api_key_create(tenant=tenant, name="app", scopes=["read"], requests_per_minute=limit)[1])


def test_one_call_too_many_is_429_and_says_when_to_return(tenant: Tenant, broker: redis.Redis) -> None:
    limited, other = caller(tenant, 3), caller(tenant, 3)
    assert [limited.get(PING)[0] for _ in range(4)] == [200, 200, 200, 429]
    response = limited.client.get(PING)
    assert 1 <= int(response["Retry-After"]) <= 60
    assert list(response.json()) == ["detail"]
    assert other.get(PING)[0] == 200


def test_a_key_without_a_limit_of_its_own_has_the_configured_one(
    tenant: Tenant, broker: redis.Redis, settings: pytest.FixtureRequest
) -> None:
    settings.ENV = settings.ENV.model_copy(update={"requests_per_minute": 2})  # type: ignore[attr-defined]
    usual, free = caller(tenant, None), caller(tenant, 0)
    assert [usual.get(PING)[0] for _ in range(3)] == [200, 200, 429]
    assert [free.get(PING)[0] for _ in range(5)] == [200] * 5


def test_without_redis_nobody_is_refused(tenant: Tenant, settings: pytest.FixtureRequest) -> None:
    settings.REDIS_URL = "redis://127.0.0.1:1/0"  # type: ignore[attr-defined]
    limited = caller(tenant, 1)
    assert [limited.get(PING)[0] for _ in range(3)] == [200, 200, 200]


def test_health_has_no_limit(tenant: Tenant, client: Client) -> None:
    assert {client.get("/health/live").status_code for _ in range(20)} == {200}
