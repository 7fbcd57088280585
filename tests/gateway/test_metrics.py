"""What the gateway counts: every request once, by what memory did and how it ended."""

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest
from prometheus_client import REGISTRY
from tenants.models import Tenant
from tenants.scope import every_tenant
from tenants.services import tenant_create

from inference.gateway.middleware import Gateway
from inference.gateway.runtime import Runtime
from tests.gateway.echo import Client, echo
from tests.gateway.helpers import chat_key_of, close_connections

pytestmark = pytest.mark.django_db(transaction=True)
CHAT = "/v1/chat/completions"
HELLO = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}


@pytest.fixture
def tenant() -> Tenant:
    return tenant_create(name="Home")


@pytest.fixture
def gateway(runtime: Runtime) -> Iterator[Gateway]:
    gateway = Gateway(echo)
    gateway.service._runtime = runtime
    yield gateway
    close_connections()


def counted(name: str, **labels: str) -> float:
    return REGISTRY.get_sample_value(f"inferscale_gateway_{name}", labels) or 0.0


def call(gateway: Gateway, *args: Any, **options: Any) -> None:
    asyncio.run(Client(gateway).send(*args, **options))


def test_an_answer_and_a_refusal_are_counted_once(gateway: Gateway, tenant: Tenant) -> None:
    with every_tenant():
        key = chat_key_of(tenant)
    answers, refusals = {"mode": "none", "status": "200"}, {"mode": "refused", "status": "401"}
    before = counted("requests_total", **answers), counted("requests_total", **refusals)
    tokens, waited = counted("prompt_tokens_total"), counted("ttft_seconds_count", mode="none")
    call(gateway, "POST", CHAT, HELLO, key=key)
    call(gateway, "POST", CHAT, HELLO, key="isk_unknown")
    after = counted("requests_total", **answers), counted("requests_total", **refusals)
    assert after == (before[0] + 1, before[1] + 1)
    assert counted("prompt_tokens_total") == tokens + 9
    assert counted("ttft_seconds_count", mode="none") == waited + 1
    assert counted("requests_in_progress") == 0


def test_probes_are_no_requests(gateway: Gateway) -> None:
    before = all_requests()
    call(gateway, "GET", "/health")
    assert all_requests() == before


def all_requests() -> float:
    samples = [sample for family in REGISTRY.collect() for sample in family.samples]
    return sum(sample.value for sample in samples if sample.name == "inferscale_gateway_requests_total")
