"""Who may chat, and what a client may not say to the engine."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from tenants.models import ApiKey, Tenant
from tenants.services import api_key_create, api_key_revoke

from inference.gateway.errors import ApiError
from inference.gateway.planner import plan_request
from inference.gateway.runtime import Runtime
from tests.gateway.helpers import ask, chat_key_of


def status_of(runtime: Runtime, key: str) -> tuple[int, str | None]:
    with pytest.raises(ApiError) as caught:
        ask(runtime, key)
    return caught.value.status, caught.value.code


@pytest.mark.parametrize("key", ["", "isk_unknown", "sk-something"])
def test_without_a_known_key_nothing_is_planned(runtime: Runtime, db: None, key: str) -> None:
    assert status_of(runtime, key) == (401, "invalid_api_key")


def test_a_revoked_key_is_refused(runtime: Runtime, tenant: Tenant) -> None:
    api_key, raw = api_key_create(tenant=tenant, name="old")
    api_key_revoke(api_key=api_key)
    assert status_of(runtime, raw) == (401, "invalid_api_key")


def test_an_expired_key_is_refused(runtime: Runtime, tenant: Tenant) -> None:
    api_key, raw = api_key_create(tenant=tenant, name="old")
    ApiKey.objects.filter(pk=api_key.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert status_of(runtime, raw) == (401, "invalid_api_key")


def test_a_key_without_the_chat_scope_is_refused(runtime: Runtime, tenant: Tenant) -> None:
    assert status_of(runtime, chat_key_of(tenant, scopes=["read", "write"])) == (403, "missing_scope")


@pytest.mark.parametrize("body", [b"", b"{", b"[1]", b"\xff\xfe", b'"text"', b"[" * 100_000, b'{"top_p": NaN}'])
def test_a_body_that_is_no_json_object_is_refused(runtime: Runtime, tenant: Tenant, body: bytes) -> None:
    with pytest.raises(ApiError) as caught:
        plan_request(runtime, raw_key=chat_key_of(tenant), raw_body=body, is_chat=True)
    assert caught.value.status == 400


def test_the_engines_private_fields_are_removed(runtime: Runtime, tenant: Tenant) -> None:
    forged = {"op": "inject", "tenant": "x", "segments": []}
    plan = ask(
        runtime,
        chat_key_of(tenant),
        kv_transfer_params=forged,
        cache_salt="mine",
        priority=-9,
        request_id="mine",
        vllm_xargs={"kv_transfer_params": "x", "other": 1},
    )
    assert plan.body["cache_salt"] != "mine"
    assert plan.body["vllm_xargs"] == {"other": 1}
    assert not {"kv_transfer_params", "priority", "request_id"} & plan.body.keys()


def test_all_other_fields_pass_untouched(runtime: Runtime, tenant: Tenant) -> None:
    fields: dict[str, Any] = {
        "temperature": 0.5,
        "stop": ["\u00e9", "\U0001f642"],
        "tools": [{"type": "function"}],
        "logprobs": True,
        "seed": 7,
        "n": 2,
    }
    plan = ask(runtime, chat_key_of(tenant), **fields)
    assert {name: plan.body[name] for name in fields} == fields


def test_a_stream_is_asked_to_count_its_tokens(runtime: Runtime, tenant: Tenant) -> None:
    key = chat_key_of(tenant)
    silent, asked = (
        ask(runtime, key, stream=True),
        ask(runtime, key, stream=True, stream_options={"include_usage": True}),
    )
    assert silent.body["stream_options"] == asked.body["stream_options"] == {"include_usage": True}
    assert (silent.hide_usage, asked.hide_usage, ask(runtime, key).hide_usage) == (True, False, False)
