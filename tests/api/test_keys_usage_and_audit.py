"""What a tenant's administrator looks after: keys, usage, and who did what."""

from datetime import UTC, datetime
from typing import Any

import pytest
from tenants.models import Tenant
from tenants.services import quota_set
from usage.services import RequestRecordData, request_records_write

from tests.api.conftest import Caller


def test_a_key_is_shown_once_works_and_is_revoked(admin: Caller) -> None:
    status, made = admin.post("/v1/keys/", {"name": "reader", "scopes": ["read"], "requests_per_minute": 0})
    reader = Caller(made["key"])
    assert (status, reader.get("/v1/ping/")[0], reader.post("/v1/batch/", {})[0]) == (201, 200, 405)
    assert reader.delete("/v1/memories/", user_id="alice")[0] == 403
    listed = admin.get("/v1/keys/")[1]["results"]
    assert [(key["name"], "key" in key) for key in listed] == [("reader", False), ("admin", False)]
    assert admin.delete(f"/v1/keys/{made['id']}/")[1]["revoked_at"] is not None
    assert reader.get("/v1/ping/")[0] == 401


@pytest.mark.parametrize(
    "body",
    [
        {"name": "x", "scopes": []},
        {"name": "x", "scopes": ["root"]},
        {"name": " ", "scopes": ["read"]},
        {"name": "x", "scopes": ["read"], "expires_at": "2001-01-01T00:00:00Z"},
        {"name": "x", "scopes": ["read"], "requests_per_minute": -1},
    ],
)
def test_a_bad_key_is_400(admin: Caller, body: dict[str, Any]) -> None:
    assert admin.post("/v1/keys/", body)[0] == 400
    assert admin.get("/v1/keys/")[1]["count"] == 1


def test_a_strangers_key_is_404(admin: Caller, tenant: Tenant) -> None:
    assert admin.delete("/v1/keys/123e4567-e89b-12d3-a456-426614174000/")[0] == 404


def test_the_audit_trail_says_who_did_what_and_no_secret(admin: Caller, owner: Caller, tenant: Tenant) -> None:
    project = f"/api/v1/orgs/organizations/{tenant.pk}/projects/{tenant.pk}/"
    admin.patch(project, {"custom_instructions": "Only hobbies."})
    made = admin.post("/v1/keys/", {"name": "reader", "scopes": ["read"]})[1]
    admin.delete(f"/v1/keys/{made['id']}/")
    hook = {"url": "https://example.com/", "name": "hook", "event_types": ["memory_add"]}
    secret = admin.post(f"/api/v1/webhooks/projects/{tenant.pk}/", hook)[1]["secret"]
    entries = admin.get("/v1/audit/")[1]["results"]
    assert [entry["action"] for entry in entries][:4] == [
        "webhook.create",
        "key.revoke",
        "key.create",
        "project.update",
    ]
    assert {entry["actor"] for entry in entries[:4]} == {f"key:{admin.key[:12]}"}
    assert made["key"] not in str(entries)
    assert secret not in str(entries)
    assert owner.get("/v1/audit/")[0] == 403


def test_usage_counts_chats_changes_and_what_is_stored(owner: Caller, stranger: Caller, tenant: Tenant) -> None:
    ids = owner.add("Alice keeps bees", "Alice drinks tea")
    owner.delete(f"/v1/memories/{ids[0]}/")
    chat = RequestRecordData(
        tenant_id=tenant.pk, mode="inject", status=200, prompt_tokens=90, tokens_injected_planned=60, output_tokens=5
    )
    request_records_write([chat, chat])
    answer = owner.get("/v1/usage/")[1]
    assert answer["stored"] == {"memories": 1, "owners": 1, "encoded": 0, "bytes": 0}
    (day,) = answer["days"]
    today = datetime.now(UTC).date().isoformat()
    counts = {"chats": 2, "prompt_tokens": 180, "injected_tokens": 120, "output_tokens": 10}
    assert day == {"day": today, **counts, "changes": {"ADD": 1, "DELETE": 1}}
    assert answer["total"] == day
    assert stranger.get("/v1/usage/")[1]["days"] == []
    assert owner.get("/v1/usage/", end_date="2001-01-01", start_date="2000-12-01")[1]["days"] == []


def test_quotas_are_shown_and_what_exceeds_one_says_so(owner: Caller, tenant: Tenant, connect: Any, mem0: Any) -> None:
    quota_set(tenant=tenant, limits={"facts": 1}, actor="test")
    owner.add("Alice keeps bees")
    facts = next(quota for quota in owner.get("/v1/usage/")[1]["quotas"] if quota["name"] == "facts")
    assert facts == {"name": "facts", "limit": 1, "used": 1}
    for infer in (True, False):
        body = {"messages": [{"role": "user", "content": "I drink tea"}], "user_id": "alice", "infer": infer}
        status, answer = owner.post("/v3/memories/add/", body)
        assert (status, "quota of 1 memories is used up" in answer["detail"]) == (413, True)
    with pytest.raises(mem0.exceptions.MemoryQuotaExceededError):
        connect(owner.key).add("I drink tea", user_id="alice")


@pytest.mark.parametrize(
    "query",
    [{"start_date": "soon"}, {"start_date": "2026-02-02", "end_date": "2026-01-01"}, {"start_date": "2001-01-01"}],
)
def test_a_period_that_cannot_be_is_400(owner: Caller, query: dict[str, str]) -> None:
    assert owner.get("/v1/usage/", **query)[0] == 400
