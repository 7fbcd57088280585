"""Events say what calls changed memory, without repeating its text."""

import json

from tests.api.conftest import Caller


def test_each_change_is_an_event(owner: Caller, member: Caller) -> None:
    (memory_id,) = owner.add("Alice keeps bees")
    owner.put(f"/v1/memories/{memory_id}/", {"text": "Alice sold her bees"})
    owner.delete(f"/v1/memories/{memory_id}/")
    status, answer = member.get("/v1/events/")
    assert status == 200
    assert [event["event_type"] for event in answer["results"]] == ["DELETE", "UPDATE", "ADD"]
    assert {event["status"] for event in answer["results"]} == {"SUCCEEDED"}
    assert all(event["latency"] >= 0 for event in answer["results"])
    assert "bees" not in json.dumps(answer)


def test_the_event_of_an_add_is_found_by_its_id(owner: Caller) -> None:
    body = {"messages": [{"role": "user", "content": "Alice keeps bees"}], "user_id": "alice", "infer": False}
    added = owner.post("/v3/memories/add/", body)[1]
    status, event = owner.get(f"/v1/event/{added['event_id']}/")
    assert (status, event["id"], event["event_type"]) == (200, added["event_id"], "ADD")
    assert event["results"] == [{"id": added["results"][0]["id"], "event": "ADD"}]


def test_an_unknown_event_is_404(owner: Caller) -> None:
    assert owner.get("/v1/event/123e4567-e89b-12d3-a456-426614174000/")[0] == 404
