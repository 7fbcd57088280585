"""With a collector configured each chat is a span: what memory did, under the caller's and above the engine's."""

import asyncio
from typing import Any

import pytest
from config.tracing import end_tracing
from django.conf import settings
from tenants.models import Tenant
from tenants.scope import tenant_scope

from inference.gateway.middleware import Gateway
from inference.gateway.runtime import Runtime
from tests.factories import add_facts
from tests.gateway.echo import Client, Received
from tests.gateway.helpers import QUESTION, chat_key_of, make_ready
from tests.tracing.collector import Collector, Told

pytestmark = pytest.mark.django_db(transaction=True)
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
CALLER = f"00-{TRACE}-00f067aa0ba902b7-01"
FACT = "Bob lives in Lisbon."
CHAT = {"model": "m", "messages": [{"role": "user", "content": QUESTION}], "user": "alice"}


@pytest.fixture
def key(tenant: Tenant, runtime: Runtime) -> str:
    make_ready(runtime, *add_facts(tenant, FACT))
    return chat_key_of(tenant)


def call(gateway: Gateway, path: str, body: Any, *, key: str) -> Received:
    headers = [("traceparent", CALLER), ("x-request-id", "request-7")]
    return asyncio.run(Client(gateway).send("POST", path, body, key=key, headers=headers))


def spans(collector: Collector) -> list[Told]:
    end_tracing()
    return collector.spans


def test_a_chats_span_says_what_memory_did(collector: Collector, gateway: Gateway, key: str) -> None:
    answer = call(gateway, "/v1/chat/completions", CHAT, key=key)
    (span,) = spans(collector)
    assert (span.name, span.trace, span.parent, span.failed) == ("gateway", TRACE, "00f067aa0ba902b7", False)
    assert span.attributes["inferscale.request_id"] == "request-7"
    assert (span.attributes["inferscale.mode"], span.attributes["inferscale.facts"]) == ("inject", "1")
    assert "embed" in span.attributes["inferscale.timing"]
    assert span.attributes["http.response.status_code"] == 200
    assert answer.json["headers"]["traceparent"] == f"00-{TRACE}-{span.span}-01"


def test_nothing_that_was_said_or_known_is_told(collector: Collector, gateway: Gateway, key: str) -> None:
    call(gateway, "/v1/chat/completions", CHAT, key=key)
    call(gateway, "/v1/chat/completions", {**CHAT, "memory": FACT}, key=key)
    call(gateway, f"/v1/{FACT}", CHAT, key=f"{key}x")
    assert [span.attributes["http.response.status_code"] for span in spans(collector)] == [200, 400, 404]
    for private in (FACT, "Lisbon", QUESTION, "alice", key, "Hello, Ann."):
        assert private.encode() not in collector.raw, private


def test_what_a_worker_asks_is_traced_to_the_engine(collector: Collector, gateway: Gateway) -> None:
    body = {"model": "m", "prompt": [1, 2], "kv_transfer_params": {"op": "encode"}}
    answer = call(gateway, "/v1/completions", body, key=settings.ENGINE_SERVICE_KEY)
    (span,) = spans(collector)
    assert answer.json["headers"]["traceparent"] == f"00-{TRACE}-{span.span}-01"


def test_probes_are_no_spans(collector: Collector, gateway: Gateway) -> None:
    asyncio.run(Client(gateway).send("GET", "/health"))
    assert spans(collector) == []


def test_without_a_collector_the_callers_trace_goes_on(gateway: Gateway, tenant: Tenant) -> None:
    with tenant_scope(tenant):
        key = chat_key_of(tenant)
    assert call(gateway, "/v1/chat/completions", CHAT, key=key).json["headers"]["traceparent"] == CALLER
