"""Who may call: a live key of an active tenant, and only for what its scopes allow."""

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone
from tenants.models import Tenant
from tenants.services import api_key_create, api_key_revoke

from tests.api.conftest import Caller


def test_token_and_bearer_are_the_same_key(owner: Caller, tenant: Tenant) -> None:
    for scheme in ("Token", "Bearer", "bearer"):
        status, body = Caller(owner.key, scheme).get("/v1/ping/")
        assert (status, body["status"], body["org_id"]) == (200, "ok", str(tenant.id))


@pytest.mark.django_db
@pytest.mark.parametrize(
    "header",
    [
        "",
        "Token",
        "Token isk_wrong",
        "Bearer sk-other",
        "Basic dXNlcjpwYXNz",
        "Token a b",
        "isk_bare",
        "Token isk_\xe9",
    ],
)
def test_anything_but_a_live_key_is_401_and_says_how(header: str) -> None:
    response = Client(headers={"Authorization": header} if header else {}).get("/v1/ping/")
    assert response.status_code == 401
    assert response["WWW-Authenticate"] == "Token"
    assert set(response.json()) == {"detail"}


def test_an_expired_key_is_401(tenant: Tenant) -> None:
    _, raw = api_key_create(tenant=tenant, name="old", expires_at=timezone.now() - timedelta(seconds=1))
    assert Caller(raw).get("/v1/ping/")[0] == 401


def test_a_revoked_key_is_401_at_once(tenant: Tenant) -> None:
    api_key, raw = api_key_create(tenant=tenant, name="lost")
    assert Caller(raw).get("/v1/ping/")[0] == 200
    api_key_revoke(api_key=api_key)
    assert Caller(raw).get("/v1/ping/")[0] == 401


def test_a_key_of_a_closed_tenant_is_401(owner: Caller, tenant: Tenant) -> None:
    Tenant.objects.filter(pk=tenant.pk).update(is_active=False)
    assert owner.get("/v1/ping/")[0] == 401


def test_a_read_key_reads_and_cannot_write(owner: Caller, member: Caller, stored) -> None:  # type: ignore[no-untyped-def]
    (memory_id,) = owner.add("Alice keeps bees")
    before = stored()
    assert member.get(f"/v1/memories/{memory_id}/")[0] == 200
    assert member.texts() == ["Alice keeps bees"]
    body = {"messages": [{"role": "user", "content": "x"}], "user_id": "alice", "infer": False}
    for status, answer in (
        member.post("/v3/memories/add/", body),
        member.put(f"/v1/memories/{memory_id}/", {"text": "changed"}),
        member.delete(f"/v1/memories/{memory_id}/"),
        member.delete("/v1/memories/", user_id="alice"),
    ):
        assert (status, "write" in answer["detail"]) == (403, True)
    assert stored() == before


def test_a_write_key_cannot_read(tenant: Tenant) -> None:
    writer = Caller(api_key_create(tenant=tenant, name="ingest", scopes=["write"])[1])
    (memory_id,) = writer.add("Alice keeps bees")
    for status, answer in (
        writer.get(f"/v1/memories/{memory_id}/"),
        writer.post("/v3/memories/", {}),
        writer.post("/v3/memories/search/", {"query": "bees", "filters": {"user_id": "alice"}}),
        writer.get("/v1/events/"),
    ):
        assert (status, "read" in answer["detail"]) == (403, True)
