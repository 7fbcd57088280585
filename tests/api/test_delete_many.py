"""Deleting all memories of someone: all of them, and nobody else's."""

from tests.api.conftest import Caller


def test_all_of_a_users_memories_go_not_the_first_page(owner: Caller) -> None:
    owner.add(*(f"Alice fact {number}" for number in range(201)))
    owner.add("Bob drinks tea", user_id="bob")
    status, answer = owner.delete("/v1/memories/", user_id="alice")
    assert (status, answer["message"]) == (200, "201 memories deleted.")
    assert owner.texts() == ["Bob drinks tea"]
    event = owner.get(f"/v1/event/{answer['event_id']}/")[1]
    assert (event["event_type"], event["status"], len(event["results"])) == ("DELETE_ALL", "SUCCEEDED", 201)


def test_several_names_narrow_what_goes(owner: Caller) -> None:
    owner.add("In the first run", run_id="r1")
    owner.add("In the second run", run_id="r2")
    assert owner.delete("/v1/memories/", user_id="alice", run_id="r1")[1]["message"] == "1 memories deleted."
    assert owner.texts() == ["In the second run"]


def test_names_may_stand_in_filters_as_json_or_as_python_writes_it(owner: Caller) -> None:
    for written in ('{"user_id": "alice"}', "{'user_id': 'alice'}"):
        owner.add("Alice keeps bees")
        assert owner.delete("/v1/memories/", filters=written)[0] == 200
        assert owner.texts() == []
