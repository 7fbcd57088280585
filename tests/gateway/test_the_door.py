"""What passes the gateway and what does not, with a server that only echoes."""

import asyncio
import json
from typing import Any

import pytest
from django.conf import settings
from tenants.models import Tenant
from tenants.scope import every_tenant
from tenants.services import tenant_create
from usage.models import RequestRecord

from inference.gateway.middleware import Gateway
from inference.gateway.runtime import Runtime
from tests.factories import add_facts
from tests.gateway.echo import Client, Received
from tests.gateway.helpers import chat_key_of, make_ready

pytestmark = pytest.mark.django_db(transaction=True)
CHAT = "/v1/chat/completions"
HELLO = {"model": "m", "messages": [{"role": "user", "content": "Hello"}]}


@pytest.fixture
def tenant() -> Tenant:
    return tenant_create(name="Home")


@pytest.fixture
def key(tenant: Tenant) -> str:
    with every_tenant():
        return chat_key_of(tenant)


def call(gateway: Gateway, *args: Any, **options: Any) -> Received:
    return asyncio.run(Client(gateway).send(*args, **options))


@pytest.mark.parametrize("path", ["/health", "/ping", "/version", "/metrics"])
def test_probes_need_no_key(gateway: Gateway, path: str) -> None:
    answer = call(gateway, "GET", path)
    assert (answer.status, answer.headers["x-inferscale-golden"]) == (200, "passed")


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/invocations"),
        ("POST", "/v1/responses"),
        ("POST", "/v1/chat/completions/render"),
        ("POST", "/v1/chat/completions/"),
        ("POST", "//v1/chat/completions"),
        ("GET", "/v1/chat/completions"),
        ("POST", "/tokenize"),
        ("GET", "/docs"),
        ("POST", "/health"),
    ],
)
def test_other_paths_are_not_found(gateway: Gateway, key: str, method: str, path: str) -> None:
    answer = call(gateway, method, path, HELLO, key=key)
    assert (answer.status, answer.json["error"]["type"]) == (404, "not_found_error")


def test_websockets_are_closed(gateway: Gateway) -> None:
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(gateway({"type": "websocket", "path": "/v1/realtime"}, None, send))  # type: ignore[arg-type]
    assert sent[0]["type"] == "websocket.close"


def test_without_key_the_error_is_openais(gateway: Gateway) -> None:
    answer = call(gateway, "POST", CHAT, HELLO)
    assert answer.status == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert set(answer.json["error"]) == {"message", "type", "param", "code"}


def test_the_list_of_models_needs_a_key(gateway: Gateway, key: str) -> None:
    assert call(gateway, "GET", "/v1/models").status == 401
    assert call(gateway, "GET", "/v1/models", key=key).json["path"] == "/v1/models"


def test_the_rewritten_body_has_its_own_length(gateway: Gateway, key: str) -> None:
    answer = call(gateway, "POST", CHAT, {**HELLO, "priority": 1}, key=key).json
    assert int(answer["headers"]["content-length"]) == answer["length"]
    assert answer["body"]["cache_salt"]


def test_a_chat_is_explained_and_neither_sent_nor_recorded(gateway: Gateway, tenant: Tenant, key: str) -> None:
    with every_tenant():
        add_facts(tenant, "Bob lives in Lisbon.")
    answer = call(gateway, "POST", "/v1/memory/plan", {**HELLO, "user": "alice"}, key=key)
    assert (answer.status, answer.headers["content-type"]) == (200, "application/json")
    (fact,) = answer.json["facts"]
    assert (fact["text"], fact["use"], fact["reason"]) == ("Bob lives in Lisbon.", "text", "kv")
    refused = call(gateway, "POST", "/v1/memory/plan", {**HELLO, "memory": {"top_k": 0, "user_id": "alice"}}, key=key)
    assert (refused.status, refused.json["error"]["param"]) == (400, "memory.top_k")
    for no_key in ("", settings.ENGINE_SERVICE_KEY):
        assert call(gateway, "POST", "/v1/memory/plan", {**HELLO, "user": "alice"}, key=no_key).status == 401
    gateway.service._records.close()  # type: ignore[union-attr]
    with every_tenant():
        assert not RequestRecord.objects.exists()


def test_a_record_says_which_facts_were_used(gateway: Gateway, tenant: Tenant, key: str, runtime: Runtime) -> None:
    with every_tenant():
        facts = add_facts(tenant, "Bob lives in Lisbon.", "Carla paints boats.")
        make_ready(runtime, facts[1])
    assert call(gateway, "POST", CHAT, {**HELLO, "user": "alice"}, key=key).status == 200
    gateway.service._records.close()  # type: ignore[union-attr]
    with every_tenant():
        record = RequestRecord.objects.get()
    assert record.fact_ids == [facts[1].pk, facts[0].pk]
    assert (record.facts, record.facts_injected) == (2, 1)


def test_forged_headers_do_not_reach_the_engine(gateway: Gateway, key: str) -> None:
    forged = [("x-inferscale-forged", "1"), ("x-request-id", "mine")]
    answer = call(gateway, "POST", CHAT, HELLO, key=key, headers=forged)
    assert answer.json["headers"]["x-inferscale-forged"] == ""
    assert answer.json["headers"]["x-request-id"].startswith("mine-")
    assert answer.headers["x-request-id"] == "mine"


def test_the_plan_stands_in_the_answers_headers(gateway: Gateway, key: str) -> None:
    headers = call(gateway, "POST", CHAT, HELLO, key=key).headers
    assert headers["x-inferscale-mode"] == "none"
    assert headers["x-inferscale-facts"] == headers["x-inferscale-tokens-injected"] == "0"


def test_token_counts_of_a_stream_are_hidden_unless_asked_for(gateway: Gateway, key: str) -> None:
    silent = call(gateway, "POST", CHAT, {**HELLO, "stream": True}, key=key).body
    options = {"stream": True, "stream_options": {"include_usage": True}}
    asked = call(gateway, "POST", CHAT, {**HELLO, **options}, key=key).body
    assert silent.count(b"data: ") == 3
    assert silent.endswith(b"data: [DONE]\n\n")
    assert asked.count(b"data: ") == 4


def test_each_call_is_recorded_with_its_counts(gateway: Gateway, key: str, tenant: Tenant) -> None:
    call(gateway, "POST", CHAT, {**HELLO, "stream": True, "user": "alice"}, key=key)
    assert gateway.service._records
    gateway.service._records.close()
    with every_tenant():
        record = RequestRecord.objects.get()
    assert (record.tenant_id, record.owner_name, record.status, record.mode) == (tenant.pk, "alice", 200, "none")
    assert (record.prompt_tokens, record.output_tokens, record.cached_tokens) == (9, 2, 4)
    assert record.ttft_ms is not None
    assert record.total_ms is not None
    assert 0 < record.ttft_ms <= record.total_ms


def test_a_client_that_leaves_reaches_the_server_and_the_record(gateway: Gateway, key: str) -> None:
    call(gateway, "POST", CHAT, {**HELLO, "wait": True}, key=key)
    assert gateway.service._records
    gateway.service._records.close()
    with every_tenant():
        assert RequestRecord.objects.get().status == 499


def test_the_service_key_passes_completions_unchanged(gateway: Gateway) -> None:
    body = {"prompt": [1], "cache_salt": "s", "priority": 5, "kv_transfer_params": {"op": "encode"}}
    answer = call(gateway, "POST", "/v1/completions", body, key=settings.ENGINE_SERVICE_KEY)
    assert answer.json["body"] == body


def test_so_does_that_of_the_secret_before(gateway: Gateway, settings: Any) -> None:
    before, settings.ENGINE_SERVICE_KEY = settings.ENGINE_SERVICE_KEY, "n" * 64
    body = {"prompt": [1], "cache_salt": "s", "kv_transfer_params": {"op": "encode"}}
    assert call(gateway, "POST", "/v1/completions", body, key=before).status == 401
    settings.ENGINE_SERVICE_KEYS_BEFORE = [before]
    for key in (before, "n" * 64):
        assert call(gateway, "POST", "/v1/completions", body, key=key).json["body"] == body


def test_a_workers_chat_goes_behind_all_others_and_uses_no_memory(gateway: Gateway) -> None:
    forged = [("x-inferscale-forged", "1")]
    body = {**HELLO, "cache_salt": "s", "response_format": {"type": "json_object"}}
    answer = call(gateway, "POST", CHAT, body, key=settings.ENGINE_SERVICE_KEY, headers=forged)
    assert answer.json["body"] == {**body, "priority": 10}
    assert int(answer.json["headers"]["content-length"]) == answer.json["length"]
    assert answer.json["headers"]["x-inferscale-forged"] == ""
    assert "x-inferscale-mode" not in answer.headers


@pytest.mark.parametrize(
    "fields",
    [
        {"priority": -1},
        {"kv_transfer_params": {"op": "inject", "tenant": "x", "segments": []}},
        {"kv_transfer_params": {"op": "encode", "spans": []}},
        {"ec_transfer_params": {}},
        {"request_id": "mine"},
        {"memory": {"user_id": "alice"}},
        {"user": "alice"},
        {"vllm_xargs": {"kv_transfer_params": "x"}},
    ],
    ids=str,
)
def test_a_workers_chat_may_not_say_more(gateway: Gateway, fields: dict[str, Any]) -> None:
    answer = call(gateway, "POST", CHAT, {**HELLO, "cache_salt": "s", **fields}, key=settings.ENGINE_SERVICE_KEY)
    assert (answer.status, answer.json["error"]["param"]) == (403, next(iter(fields)))


@pytest.mark.parametrize("salt", [{}, {"cache_salt": ""}, {"cache_salt": None}, {"cache_salt": 7}], ids=str)
def test_a_workers_chat_without_salt_is_refused(gateway: Gateway, salt: dict[str, Any]) -> None:
    answer = call(gateway, "POST", CHAT, {**HELLO, **salt}, key=settings.ENGINE_SERVICE_KEY)
    assert (answer.status, answer.json["error"]["param"]) == (400, "cache_salt")


def test_a_tenants_key_gets_no_workers_chat(gateway: Gateway, key: str) -> None:
    answer = call(gateway, "POST", CHAT, {**HELLO, "cache_salt": "mine", "priority": 10}, key=key).json["body"]
    assert "priority" not in answer
    assert answer["cache_salt"] != "mine"
    almost = settings.ENGINE_SERVICE_KEY[:-1]
    assert call(gateway, "POST", CHAT, {**HELLO, "cache_salt": "s"}, key=almost).status == 401


def test_a_body_beyond_the_limit_is_refused(gateway: Gateway, key: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("inference.gateway.service.MAX_BODY", 100)
    assert call(gateway, "POST", CHAT, b" " * 101, key=key).status == 413


@pytest.mark.parametrize(("sent", "status"), [("", 401), ("isk_unknown", 401), ("known", 200)])
def test_a_body_in_pieces_is_taken_of_known_callers_alone(gateway: Gateway, key: str, sent: str, status: int) -> None:
    """It may be large, and slow to come: whoever has no key is told after the first piece."""
    answer, taken = asyncio.run(in_pieces(gateway, key if sent == "known" else sent))
    assert (answer.status, taken) == (status, 3 if status == 200 else 1)


def test_a_body_that_does_not_come_is_waited_for_no_longer_than_a_minute(
    gateway: Gateway, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("inference.gateway.service.BODY_SECONDS", 0.2)
    answer, _ = asyncio.run(in_pieces(gateway, key, stops=True))
    assert answer.status == 408


async def in_pieces(gateway: Gateway, key: str, *, stops: bool = False) -> tuple[Received, int]:
    """The answer, and how many of the three pieces were taken. `stops`: after the first none comes."""
    raw, taken, received = json.dumps(HELLO).encode(), 0, Received()

    async def receive() -> Any:
        nonlocal taken
        if stops and taken:
            await asyncio.sleep(60)
        taken += 1
        piece = raw[(taken - 1) * 20 : taken * 20 if taken < 3 else None]
        return {"type": "http.request", "body": piece, "more_body": taken < 3}

    async def send(message: Any) -> None:
        received.take(message)

    headers = [(b"authorization", f"Bearer {key}".encode())] if key else []
    await gateway({"type": "http", "method": "POST", "path": CHAT, "headers": headers}, receive, send)
    return received, taken
