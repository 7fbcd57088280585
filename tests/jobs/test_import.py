"""Memories come in as JSON lines or as exports have them; what cannot be stored is named, row by row."""

import json
from typing import Any

import pytest
import redis
from facts.models import Fact
from jobs.models import Job, JobPart
from jobs.services import job_cancel
from tenants.models import Tenant
from tenants.scope import tenant_scope

from tests.api.conftest import Caller
from tests.api.working import work

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("broker")]
IMPORTS = "/v1/imports/"


def send_lines(caller: Caller, lines: str) -> tuple[int, Any]:
    response = caller.client.post(IMPORTS, lines.encode(), content_type="application/x-ndjson")
    return response.status_code, response.json()


def test_json_lines_are_stored_with_all_they_say(owner: Caller) -> None:
    row = {
        "memory": "Alice keeps\u2028 bees",
        "user_id": "alice",
        "metadata": {"topic": "hobby\u0085"},
        "categories": ["animals"],
        "expiration_date": "2090-06-01",
        "timestamp": "2026-03-01T12:00:00+05:30",
        "immutable": True,
        "owner": "somebody",
    }
    other = {"text": "The helper is kind", "agent_id": "helper", "created_at": "2025-01-01T00:00:00Z"}
    status, answer = send_lines(owner, f"{json.dumps(row, ensure_ascii=False)}\n\n{json.dumps(other)}\n")
    assert (status, answer["status"], answer["total"], answer["refusals"]) == (202, "PENDING", 2, [])
    assert work() == ["workers.jobs.run"]
    done = owner.get(f"{IMPORTS}{answer['id']}/")[1]
    assert (done["status"], done["done"], done["refused"], done["progress"]) == ("SUCCEEDED", 2, 0, 1.0)
    (alice,) = owner.post("/v3/memories/", {"filters": {"user_id": "alice"}})[1]["results"]
    assert (alice["memory"], alice["metadata"], alice["categories"]) == (
        "Alice keeps bees",
        {"topic": "hobby\u0085"},
        ["animals"],
    )
    assert (alice["expiration_date"], alice["timestamp"], alice["immutable"]) == (
        "2090-06-01",
        "2026-03-01T06:30:00Z",
        True,
    )
    (helper,) = owner.post("/v3/memories/", {"filters": {"agent_id": "helper"}})[1]["results"]
    assert (helper["memory"], helper["timestamp"]) == ("The helper is kind", "2025-01-01T00:00:00Z")
    event = owner.get(f"/v1/event/{answer['event_id']}/")[1]
    assert (event["event_type"], event["status"]) == ("IMPORT", "SUCCEEDED")


def test_what_cannot_be_stored_is_named_and_the_rest_is_stored(owner: Caller) -> None:
    rows = [
        '{"memory": "Alice keeps bees", "user_id": "alice"}',
        "{",
        "7",
        '{"memory": "whose?"}',
        '{"memory": " ", "user_id": "alice"}',
        '{"memory": "x", "user_id": "alice", "metadata": {"user_id": "bob"}}',
        '{"memory": "x", "user_id": "alice", "created_at": "2025-01-01T00:00:00"}',
        '{"memory": "x", "user_id": 7}',
        '{"memory": "over", "user_id": "alice", "expiration_date": "2001-01-01"}',
        '{"memory": "x", "user_id": "alice", "metadata": {"n": NaN}}',
    ]
    answer = send_lines(owner, "\n".join(rows))[1]
    work()
    done = owner.get(f"{IMPORTS}{answer['id']}/")[1]
    assert (done["status"], done["total"], done["done"], done["refused"]) == ("SUCCEEDED", 10, 10, 9)
    reasons = {refusal["line"]: refusal["reason"] for refusal in done["refusals"]}
    assert list(reasons) == [2, 3, 4, 5, 6, 7, 8, 9, 10]
    words = ["JSON", "JSON", "user_id", "memory", "metadata", "created_at", "user_id", "expiration_date", "JSON"]
    assert [word in reason for word, reason in zip(words, reasons.values(), strict=True)] == [True] * 9
    assert owner.texts() == ["Alice keeps bees"]


@pytest.mark.parametrize("name", ["memories", "results"])
def test_exports_and_lists_of_mem0_go_in_as_they_are(owner: Caller, name: str) -> None:
    row = {
        "id": "0a14d8f0-e364-4f5c-b305-10da1f0d0878",
        "memory": "Name is Alex",
        "user_id": "alex",
        "agent_id": None,
        "app_id": None,
        "run_id": None,
        "hash": "8b1a9953c4611296a827abf8c47804d7",
        "metadata": None,
        "categories": None,
        "created_at": "2024-07-20T01:30:36.275141-07:00",
        "updated_at": "2024-07-20T01:30:36.275172-07:00",
        "expiration_date": None,
    }
    status, answer = owner.post(IMPORTS, {name: [row], "count": 1, "next": None})
    work()
    assert (status, owner.get(f"{IMPORTS}{answer['id']}/")[1]["refusals"]) == (202, [])
    (memory,) = owner.post("/v3/memories/", {})[1]["results"]
    assert (memory["memory"], memory["timestamp"]) == ("Name is Alex", "2024-07-20T08:30:36.275141Z")


def test_an_import_sent_again_stores_nothing_twice(owner: Caller, tenant: Tenant) -> None:
    for _ in range(2):
        owner.post(IMPORTS, {"memories": [{"memory": f"Fact {i}", "user_id": "alice"} for i in range(250)]})
        work()
    with tenant_scope(tenant):
        assert Fact.objects.count() == 250


def test_a_bad_import_is_refused_whole(owner: Caller, member: Caller) -> None:
    assert owner.post(IMPORTS, {})[0] == 400
    assert owner.post(IMPORTS, {"memories": "x"})[0] == 400
    assert send_lines(owner, "\n")[0] == 400
    assert owner.client.post(IMPORTS, b"\xff\xfe\x00", content_type="application/x-ndjson").status_code == 400
    assert member.post(IMPORTS, {"memories": [{"memory": "x", "user_id": "alice"}]})[0] == 403


def test_a_strangers_import_is_404(owner: Caller, stranger: Caller) -> None:
    answer = owner.post(IMPORTS, {"memories": [{"memory": "x", "user_id": "alice"}]})[1]
    assert stranger.get(f"{IMPORTS}{answer['id']}/")[0] == 404


def test_texts_leave_the_job_once_they_are_stored(owner: Caller, broker: redis.Redis, tenant: Tenant) -> None:
    from jobs.models import JobPart

    owner.post(IMPORTS, {"memories": [{"memory": "Alice keeps bees", "user_id": "alice"}]})
    work()
    with tenant_scope(tenant):
        assert set(JobPart.objects.values_list("body", "is_done")) == {("", True)}


def test_who_is_erased_meanwhile_is_not_stored_after_all(owner: Caller, tenant: Tenant) -> None:
    rows = [{"memory": f"Alice has {n} bees", "user_id": "alice"} for n in range(3)]
    rows += [
        {"memory": "Bob drinks tea", "user_id": "bob", "run_id": "r1"},
        {"memory": "Carol sails", "user_id": "carol"},
    ]
    answer = send_lines(owner, "\n".join(map(json.dumps, rows)))[1]
    for path in ("user/alice", "run/r1"):
        assert owner.delete(f"/v2/entities/{path}/")[0] == 200
    with tenant_scope(tenant):
        assert ["bees" in part.body or "tea" in part.body for part in JobPart.objects.all()] == [False]
    assert "workers.jobs.run" in work()
    done = owner.get(f"{IMPORTS}{answer['id']}/")[1]
    assert (done["status"], done["total"], done["done"], done["progress"]) == ("SUCCEEDED", 1, 1, 1.0)
    assert owner.texts() == ["Carol sails"]


def test_what_a_failed_import_left_is_erased_with_its_user(owner: Caller, tenant: Tenant) -> None:
    send_lines(owner, json.dumps({"memory": "Alice has bees", "user_id": "alice"}))
    with tenant_scope(tenant):
        job_cancel(job=Job.objects.get(), actor="test")
    owner.delete("/v2/entities/user/alice/")
    with tenant_scope(tenant):
        assert JobPart.objects.get().body == ""
