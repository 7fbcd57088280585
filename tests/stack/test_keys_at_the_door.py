"""Who gets no answer, and what is wrong with a request, in OpenAI's form of an error."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from tenants.models import Tenant
from tenants.services import api_key_create, api_key_revoke

from tests.stack.app import CHAT, App, Reply
from tests.stack.stack import Stack

pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True)]


def with_key(app: App, key: str) -> App:
    return App(app.stack, app.tenant, key, app.model)


def revoked(tenant: Tenant) -> str:
    api_key, raw = api_key_create(tenant=tenant, name="lost")
    api_key_revoke(api_key=api_key)
    return raw


def expired(tenant: Tenant) -> str:
    return api_key_create(tenant=tenant, name="old", expires_at=timezone.now() - timedelta(seconds=1))[1]


def of_a_closed_tenant(tenant: Tenant) -> str:
    Tenant.objects.filter(pk=tenant.pk).update(is_active=False)
    return api_key_create(tenant=tenant, name="app")[1]


@pytest.mark.parametrize("make_key", [lambda _: "", lambda _: "isk_wrong", revoked, expired, of_a_closed_tenant],
                         ids=["none", "wrong", "revoked", "expired", "of a closed tenant"])  # fmt: skip
def test_without_a_good_key_there_is_no_answer(app: App, make_key: Any) -> None:
    caller = with_key(app, make_key(app.tenant))
    for reply in (caller.chat("Hello"), Reply(caller.engine_api("GET", "/v1/models"))):
        assert reply.response.status_code == 401
        assert set(reply.error) == {"message", "type", "param", "code"}
        assert (reply.error["type"], reply.error["code"]) == ("authentication_error", "invalid_api_key")
    assert caller.memory_api("POST", "/v3/memories/search/", json={"query": "cat"}).status_code == 401


def test_a_key_revoked_between_two_chats_works_once(app: App) -> None:
    api_key, raw = api_key_create(tenant=app.tenant, name="lost")
    caller = with_key(app, raw)
    assert caller.chat("Hello", max_tokens=1).response.status_code == 200
    api_key_revoke(api_key=api_key)
    assert caller.chat("Hello", max_tokens=1).response.status_code == 401


def test_a_key_that_may_only_read_does_not_chat(stack: Stack, app: App) -> None:
    reader = App.of(stack, app.tenant, scopes=["read"])
    reply = reader.chat("Hello")
    assert (reply.response.status_code, reply.error["code"]) == (403, "missing_scope")
    add = {"messages": [{"role": "user", "content": "Hi."}], "user_id": "alice", "infer": False}
    assert reader.memory_api("POST", "/v3/memories/add/", json=add).status_code == 403
    assert reader.search("Hi", "alice") == {}


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/invocations"), ("POST", "/v1/responses"), ("POST", "/tokenize"), ("POST", f"{CHAT}/render"),
     ("GET", "/openapi.json"), ("POST", "/reset_prefix_cache"), ("GET", "/nothing")],
)  # fmt: skip
def test_other_paths_of_the_engine_are_not_found(app: App, method: str, path: str) -> None:
    reply = Reply(app.engine_api(method, path))
    assert (reply.response.status_code, reply.error["type"]) == (404, "not_found_error")


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"memory": "alice"}, "memory"),
        ({"memory": ["alice"]}, "memory"),
        ({"memory": {"name": "alice"}}, "memory.name"),
        ({"memory": {}}, "memory.user_id"),
        ({"memory": {"user_id": " "}}, "memory.user_id"),
        ({"memory": {"user_id": 7}}, "memory.user_id"),
        ({"memory": {"user_id": "a" * 256}}, "memory.user_id"),
        ({"memory": {"user_id": "alice", "mode": "kv"}}, "memory.mode"),
        ({"memory": {"user_id": "alice", "top_k": 0}}, "memory.top_k"),
        ({"memory": {"user_id": "alice", "filters": "all"}}, "memory.filters"),
        ({"user": 7}, "user"),
        ({"user": "alice", "messages": "Hello"}, "messages"),
    ],
    ids=str,
)  # fmt: skip
def test_what_is_wrong_is_named(app: App, body: dict[str, Any], param: str) -> None:
    reply = app.chat("Hello", **body)
    assert (reply.response.status_code, reply.error["type"]) == (400, "invalid_request_error")
    assert reply.error["param"] == param
    assert reply.error["message"]


@pytest.mark.parametrize(
    "raw", [b"{", b"[]", b"", b"\xff\xfe", b"[" * 100_000], ids=["half", "list", "empty", "bytes", "deep"]
)
def test_a_body_that_is_no_json_object_is_refused(app: App, raw: bytes) -> None:
    reply = Reply(app.engine_api("POST", CHAT, content=raw))
    assert (reply.response.status_code, reply.error["type"]) == (400, "invalid_request_error")
