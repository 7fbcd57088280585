"""`infer: true`: the answer comes at once, a job finds the facts, its event says how it went."""

from typing import Any
from uuid import UUID

import pytest
from facts.models import Event, Extraction, Fact, Turn
from facts.services import extraction_fail, extraction_start
from tenants.models import Tenant
from tenants.scope import tenant_scope

from tests.api.conftest import Caller

ADD = "/v3/memories/add/"
SAID = [{"role": "user", "content": "I have moved to Lisbon."}, {"role": "assistant", "content": "How nice!"}]


@pytest.mark.parametrize("infer", [{"infer": True}, {}])
def test_the_answer_names_the_event_that_is_pending(owner: Caller, tenant: Tenant, infer: dict[str, bool]) -> None:
    status, answer = owner.post(ADD, {"messages": SAID, "user_id": "alice", **infer})
    assert (status, answer["status"], answer["results"]) == (200, "PENDING", [])
    event = owner.get(f"/v1/event/{answer['event_id']}/")[1]
    assert (event["status"], event["event_type"], event["error"], event["latency"]) == ("PENDING", "ADD", "", None)
    with tenant_scope(tenant):
        assert Fact.objects.count() == 0
        assert [turn.content for turn in Turn.objects.order_by("created_at")] == [said["content"] for said in SAID]
        assert {turn.event_id for turn in Turn.objects.all()} == {UUID(answer["event_id"])}


def test_what_the_call_says_about_the_facts_is_kept_for_the_job(owner: Caller, tenant: Tenant) -> None:
    body = {
        "messages": SAID,
        "user_id": "alice",
        "run_id": "monday",
        "custom_instructions": "Short sentences.",
        "includes": "places",
        "excludes": None,
        "metadata": {"topic": "home"},
        "categories": ["home"],
        "immutable": True,
        "timestamp": 1_700_000_000,
    }
    owner.post(ADD, body)
    with tenant_scope(tenant):
        extraction = Extraction.objects.get()
        assert {turn.occurred_at.timestamp() for turn in Turn.objects.all()} == {1_700_000_000}
    assert (extraction.instructions, extraction.includes, extraction.excludes) == ("Short sentences.", "places", "")
    assert (extraction.metadata, extraction.categories, extraction.immutable) == ({"topic": "home"}, ["home"], True)
    assert extraction.scopes.named == {"user_id": "alice", "run_id": "monday"}


@pytest.mark.parametrize(
    "messages",
    [
        [{"role": "user", "content": "..."}],
        [{"role": "user", "content": "🙂 👍"}, {"role": "assistant", "content": "?!"}],
        [{"role": "system", "content": "Be kind to John Smith."}, {"role": "tool", "content": "42 degrees"}],
    ],
)
def test_where_nobody_says_anything_nothing_is_asked_and_nothing_is_found(
    owner: Caller, tenant: Tenant, messages: list[dict[str, str]]
) -> None:
    status, answer = owner.post(ADD, {"messages": messages, "user_id": "alice"})
    assert (status, answer["status"], answer["results"]) == (200, "SUCCEEDED", [])
    with tenant_scope(tenant):
        assert (Extraction.objects.count(), Turn.objects.count(), Event.objects.count()) == (0, 0, 1)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"messages": [{"role": "user", "content": " "}]}, "messages"),
        ({"messages": []}, "messages"),
        ({"custom_instructions": 7}, "custom_instructions"),
        ({"custom_instructions": "x" * 9000}, "custom_instructions"),
        ({"includes": ["a"]}, "includes"),
        ({"excludes": "a\0b"}, "excludes"),
        ({"expiration_date": "2020-01-01"}, "expiration_date"),
        ({"metadata": {"user_id": "bob"}}, "metadata"),
        ({"user_id": None}, "user_id"),
    ],
    ids=str,
)
def test_bad_calls_are_refused_and_leave_nothing(
    owner: Caller, tenant: Tenant, fields: dict[str, Any], named: str
) -> None:
    status, answer = owner.post(ADD, {"messages": SAID, "user_id": "alice", **fields})
    assert (status, list(answer)) == (400, [named])
    with tenant_scope(tenant):
        assert (Event.objects.count(), Turn.objects.count(), Extraction.objects.count()) == (0, 0, 0)


def failed(owner: Caller, tenant: Tenant) -> str:
    """The id of an add whose job has failed."""
    event_id = str(owner.post(ADD, {"messages": SAID, "user_id": "alice"})[1]["event_id"])
    extraction = extraction_start(tenant=tenant, event_id=UUID(event_id))
    assert extraction is not None
    extraction_fail(extraction=extraction, reason="the model's API refuses the request, 401: bad key")
    return event_id


def test_a_failed_job_says_why_and_can_be_tried_again(owner: Caller, tenant: Tenant) -> None:
    event_id = failed(owner, tenant)
    event = owner.get(f"/v1/event/{event_id}/")[1]
    assert (event["status"], "401: bad key" in event["error"]) == ("FAILED", True)
    status, event = owner.post(f"/v1/event/{event_id}/retry/", {})
    assert (status, event["status"], event["error"]) == (200, "PENDING", "")
    assert extraction_start(tenant=tenant, event_id=UUID(event_id)) is not None


def test_only_what_failed_is_tried_again(owner: Caller, tenant: Tenant) -> None:
    pending = owner.post(ADD, {"messages": SAID, "user_id": "alice"})[1]["event_id"]
    owner.add("Alice keeps bees")
    done = owner.get("/v1/events/")[1]["results"][0]["id"]
    for event_id in (pending, done):
        status, answer = owner.post(f"/v1/event/{event_id}/retry/", {})
        assert (status, "only an add that failed" in answer["event_id"][0]) == (400, True)


def test_readers_and_strangers_try_nothing_again(
    owner: Caller, member: Caller, stranger: Caller, tenant: Tenant
) -> None:
    event_id = failed(owner, tenant)
    assert member.post(ADD, {"messages": SAID, "user_id": "alice"})[0] == 403
    assert member.post(f"/v1/event/{event_id}/retry/", {})[0] == 403
    assert stranger.post(f"/v1/event/{event_id}/retry/", {})[0] == 404
    assert owner.get(f"/v1/event/{event_id}/")[1]["status"] == "FAILED"


def test_deleting_a_memory_calls_off_what_is_still_looked_for(owner: Caller, tenant: Tenant) -> None:
    pending = owner.post(ADD, {"messages": SAID, "user_id": "alice"})[1]["event_id"]
    running = owner.post(ADD, {"messages": SAID, "user_id": "alice"})[1]["event_id"]
    others = owner.post(ADD, {"messages": SAID, "user_id": "bob"})[1]["event_id"]
    extraction = extraction_start(tenant=tenant, event_id=UUID(running))
    assert extraction is not None
    assert owner.delete("/v1/memories/", user_id="alice")[0] == 200
    for event_id in (pending, running):
        event = owner.get(f"/v1/event/{event_id}/")[1]
        assert (event["status"], "was deleted" in event["error"]) == ("FAILED", True)
        assert owner.post(f"/v1/event/{event_id}/retry/", {})[0] == 400
    assert owner.get(f"/v1/event/{others}/")[1]["status"] == "PENDING"
    with tenant_scope(tenant):
        assert {turn.owner.name for turn in Turn.objects.all()} == {"bob"}


def test_the_categories_to_choose_from_are_the_calls_the_projects_or_the_usual_ones(
    owner: Caller, admin: Caller, tenant: Tenant
) -> None:
    def known(**body: Any) -> dict[str, str]:
        _, answer = owner.post(ADD, {"messages": SAID, "user_id": "alice", **body})
        with tenant_scope(tenant):
            return dict(Extraction.objects.get(pk=answer["event_id"]).known_categories)

    assert {"food", "travel", "misc"} <= known().keys()
    project = f"/api/v1/orgs/organizations/{tenant.pk}/projects/{tenant.pk}/"
    assert admin.patch(project, {"custom_categories": ["hobby", {"job": "Their work"}]})[0] == 200
    assert known() == {"hobby": "", "job": "Their work"}
    assert known(custom_categories=[{"places": "Where they were"}]) == {"places": "Where they were"}
    assert known(custom_categories=None) == {"hobby": "", "job": "Their work"}


@pytest.mark.parametrize("categories", ["hobby", [7], [{}], [" "], [{" ": "blank"}], ["x" * 256], [{"a": 1}]])
def test_categories_that_cannot_be_any_are_400(owner: Caller, categories: Any) -> None:
    status, answer = owner.post(ADD, {"messages": SAID, "user_id": "alice", "custom_categories": categories})
    assert (status, list(answer)) == (400, ["custom_categories"])
