"""To a stranger, another tenant's memories do not exist."""

from tests.api.conftest import Caller


def test_a_strangers_calls_by_id_are_404_and_change_nothing(owner: Caller, stranger: Caller) -> None:
    (memory_id,) = owner.add("Alice keeps bees")
    path = f"/v1/memories/{memory_id}/"
    assert stranger.get(path)[0] == 404
    assert stranger.put(path, {"text": "taken over"})[0] == 404
    assert stranger.delete(path)[0] == 404
    assert stranger.get(f"{path}history/")[0] == 404
    assert owner.get(path)[1]["memory"] == "Alice keeps bees"


def test_a_stranger_with_the_same_user_name_lists_and_finds_nothing(owner: Caller, stranger: Caller) -> None:
    owner.add("Alice keeps bees")
    assert stranger.texts(filters={"user_id": "alice"}) == []
    search = {"query": "bees", "filters": {"user_id": "alice"}, "threshold": 0}
    assert stranger.post("/v3/memories/search/", search) == (200, {"results": []})


def test_a_strangers_delete_of_the_same_user_name_deletes_nothing_of_ours(owner: Caller, stranger: Caller) -> None:
    owner.add("Alice keeps bees")
    assert stranger.delete("/v1/memories/", user_id="alice")[0] == 200
    assert owner.texts() == ["Alice keeps bees"]


def test_a_stranger_sees_no_events_of_ours(owner: Caller, stranger: Caller) -> None:
    owner.add("Alice keeps bees")
    (event,) = owner.get("/v1/events/")[1]["results"]
    assert stranger.get("/v1/events/")[1]["results"] == []
    assert stranger.get(f"/v1/event/{event['id']}/")[0] == 404
