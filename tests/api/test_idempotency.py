"""A request that is sent again with its `Idempotency-Key` does its work once and is answered alike."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import httpx
import pytest
from api.idempotency import kept_answers_expire
from api.models import KeptAnswer
from django.utils import timezone
from facts.models import Event
from pytest_django.live_server_helper import LiveServer
from tenants.models import Tenant
from tenants.scope import every_tenant, tenant_scope
from tenants.services import api_key_create, tenant_create

from tests.api.conftest import Caller

ADD = "/v3/memories/add/"


def body(text: str = "Alice keeps bees") -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text}], "user_id": "alice", "infer": False}


def post(caller: Caller, key: str, given: dict[str, Any], path: str = ADD) -> Any:
    return caller.client.post(path, given, content_type="application/json", headers={"Idempotency-Key": key})


def test_the_second_is_answered_as_the_first_and_does_nothing(owner: Caller, tenant: Tenant) -> None:
    first, second = post(owner, "once", body()), post(owner, "once", body())
    assert (first.status_code, second.status_code) == (200, 200)
    assert second.json() == first.json()
    assert second.json()["results"][0]["event"] == "ADD"
    assert (first.headers.get("Idempotency-Replayed"), second["Idempotency-Replayed"]) == (None, "true")
    with tenant_scope(tenant):
        assert Event.objects.count() == 1


def test_it_is_answered_alike_although_the_memory_is_gone(owner: Caller) -> None:
    memory_id = post(owner, "once", body()).json()["results"][0]["id"]
    owner.delete(f"/v1/memories/{memory_id}/")
    assert post(owner, "once", body()).json()["results"][0]["id"] == memory_id
    assert owner.texts() == []


def test_one_key_for_two_requests_is_422(owner: Caller) -> None:
    post(owner, "once", body())
    assert post(owner, "once", body("Alice drinks tea")).status_code == 422
    assert owner.texts() == ["Alice keeps bees"]


def test_what_failed_can_be_tried_again(owner: Caller) -> None:
    (memory_id,) = owner.add("Alice keeps bees")
    path = f"/v1/memories/{memory_id}/"
    headers = {"Idempotency-Key": "once"}
    again = [owner.client.put(path, {"text": ""}, content_type="application/json", headers=headers) for _ in range(2)]
    assert [response.status_code for response in again] == [400, 400]
    good = owner.client.put(path, {"text": "Alice sold them"}, content_type="application/json", headers=headers)
    assert good.status_code == 200


def test_two_keys_holders_do_not_share_keys(owner: Caller, stranger: Caller, admin: Caller) -> None:
    for caller in (owner, stranger, admin):
        assert "Idempotency-Replayed" not in post(caller, "once", body()).headers


def test_a_key_that_cannot_be_is_400(owner: Caller) -> None:
    assert post(owner, "x" * 256, body()).status_code == 400
    assert owner.texts() == []


def test_a_new_api_key_is_never_kept(admin: Caller) -> None:
    given = {"name": "other", "scopes": ["read"]}
    first, second = (post(admin, "once", given, "/v1/keys/").json()["key"] for _ in range(2))
    assert first != second
    with every_tenant():
        assert not KeptAnswer.objects.exists()


def test_answers_are_kept_for_a_day(owner: Caller) -> None:
    post(owner, "once", body())
    assert kept_answers_expire(now=timezone.now() + timedelta(hours=23)) == 0
    assert kept_answers_expire(now=timezone.now() + timedelta(hours=25)) == 1


@pytest.mark.django_db(transaction=True)
def test_equal_requests_at_once_do_their_work_once(live_server: LiveServer) -> None:
    tenant = tenant_create(name="Company")
    key = api_key_create(tenant=tenant, name="app")[1]
    headers = {"Authorization": f"Token {key}", "Idempotency-Key": "once"}

    def add(_: int) -> Any:
        response = httpx.post(f"{live_server.url}{ADD}", json=body(), headers=headers, timeout=60)
        assert response.status_code == 200, response.text
        return response.json()

    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(add, range(6)))
    assert all(answer == answers[0] for answer in answers)
    with tenant_scope(tenant):
        assert Event.objects.count() == 1
