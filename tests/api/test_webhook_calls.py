"""Webhooks are made, changed and deleted by an administrator's key; the secret is shown once."""

from typing import Any

import pytest
from tenants.models import Tenant
from webhooks.services import MAX_WEBHOOKS

from tests.api.conftest import Caller

HOOK = {"url": "https://example.com/hook", "name": "Logger", "event_types": ["memory_add"]}


@pytest.fixture
def hooks(tenant: Tenant) -> str:
    return f"/api/v1/webhooks/projects/{tenant.pk}/"


def test_the_secret_is_shown_once(admin: Caller, hooks: str) -> None:
    status, made = admin.post(hooks, HOOK)
    assert (status, made["secret"].startswith("whsec_"), made["is_active"]) == (200, True, True)
    path = f"/api/v1/webhooks/{made['webhook_id']}/"
    for answer in (admin.get(hooks)[1][0], admin.get(path)[1], admin.put(path, {"is_active": False})[1]):
        assert "secret" not in answer
    assert admin.get(path)[1]["is_active"] is False


def test_older_names_of_events_are_understood(admin: Caller, hooks: str) -> None:
    made = admin.post(hooks, {**HOOK, "event_types": ["memory:add", "memory:delete"]})[1]
    assert made["event_types"] == ["memory_add", "memory_delete"]


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"url": "example.com"}, "url"),
        ({"url": "ftp://example.com"}, "url"),
        ({"url": "https://user:secret@example.com/"}, "url"),
        ({"url": None}, "url"),
        ({"name": " "}, "name"),
        ({"name": "x" * 256}, "name"),
        ({"event_types": []}, "event_types"),
        ({"event_types": ["memory_read"]}, "event_types"),
        ({"event_types": "memory_add"}, "event_types"),
        ({"secret": "mine"}, "secret"),
    ],
)
def test_a_bad_webhook_is_400(admin: Caller, hooks: str, change: dict[str, Any], field: str) -> None:
    made = admin.post(hooks, HOOK)[1]
    for status, answer in (
        admin.post(hooks, {**HOOK, **change}),
        admin.put(f"/api/v1/webhooks/{made['webhook_id']}/", change),
    ):
        assert (status, list(answer)) == (400, [field])
    assert len(admin.get(hooks)[1]) == 1


def test_a_stranger_and_a_plain_key_have_no_webhooks_of_ours(
    admin: Caller, owner: Caller, stranger: Caller, hooks: str
) -> None:
    path = f"/api/v1/webhooks/{admin.post(hooks, HOOK)[1]['webhook_id']}/"
    for call in (owner.get(hooks), owner.post(hooks, HOOK), owner.delete(path), stranger.delete(path)):
        assert call[0] == 403
    assert admin.get("/api/v1/webhooks/projects/123e4567-e89b-12d3-a456-426614174000/")[0] == 404
    assert len(admin.get(hooks)[1]) == 1


def test_there_is_an_end_to_webhooks(admin: Caller, hooks: str) -> None:
    assert [admin.post(hooks, HOOK)[0] for _ in range(MAX_WEBHOOKS + 1)] == [200] * MAX_WEBHOOKS + [409]


def test_the_log_says_what_became_of_each_message(admin: Caller, hooks: str) -> None:
    path = f"/api/v1/webhooks/{admin.post(hooks, HOOK)[1]['webhook_id']}/"
    (memory_id,) = admin.add("Alice keeps bees")
    (entry,) = admin.get(f"{path}deliveries/")[1]["results"]
    assert (entry["memory_id"], entry["event_type"], entry["state"]) == (memory_id, "memory_add", "pending")
    admin.delete(path)
    assert admin.get(f"{path}deliveries/")[0] == 404
