"""One memory's life through the API: added, read, changed, deleted, and what its history keeps."""

from tests.api.conftest import Caller


def test_an_add_stores_each_message_as_it_is(owner: Caller) -> None:
    body = {
        "messages": [
            {"role": "user", "content": "Alice  keeps\nbees"},
            {"role": "assistant", "content": "Noted: bees"},
        ],
        "user_id": "alice",
        "run_id": "r1",
        "infer": False,
        "metadata": {"topic": "hobby"},
        "categories": ["animals"],
        "expiration_date": "2090-06-01",
        "timestamp": 1_700_000_000,
    }
    status, answer = owner.post("/v3/memories/add/", body)
    assert (status, answer["status"], answer["message"]) == (200, "SUCCEEDED", "2 memories stored.")
    assert [(result["event"], result["data"]["memory"]) for result in answer["results"]] == [
        ("ADD", "Alice keeps bees"),
        ("ADD", "Noted: bees"),
    ]
    memory = owner.get(f"/v1/memories/{answer['results'][0]['id']}/")[1]
    assert memory["memory"] == "Alice keeps bees"
    assert {name: memory[name] for name in ("user_id", "agent_id", "app_id", "run_id")} == {
        "user_id": "alice",
        "agent_id": None,
        "app_id": None,
        "run_id": "r1",
    }
    assert (memory["metadata"], memory["categories"]) == ({"topic": "hobby"}, ["animals"])
    assert (memory["expiration_date"], memory["timestamp"]) == ("2090-06-01", "2023-11-14T22:13:20Z")


def test_scopes_may_stand_in_filters(owner: Caller) -> None:
    body = {"messages": [{"role": "user", "content": "Hi"}], "filters": {"user_id": "alice"}, "infer": False}
    assert owner.post("/v3/memories/add/", body)[0] == 200
    assert owner.texts(filters={"user_id": "alice"}) == ["Hi"]


def test_the_same_add_twice_stores_once_and_answers_the_same_id(owner: Caller) -> None:
    first = owner.add("Alice keeps bees")
    body = {"messages": [{"role": "user", "content": " Alice keeps  bees "}], "user_id": "alice", "infer": False}
    status, answer = owner.post("/v3/memories/add/", body)
    assert (status, answer["results"][0]["event"], answer["results"][0]["id"]) == (200, "NONE", first[0])
    assert owner.texts() == ["Alice keeps bees"]


def test_metadata_that_names_its_own_user_is_stored_as_metadata(owner: Caller) -> None:
    (memory_id,) = owner.add("Alice keeps bees", metadata={"user_id": "alice"})
    assert owner.get(f"/v1/memories/{memory_id}/")[1]["metadata"] == {"user_id": "alice"}


def test_an_update_changes_what_it_names_and_leaves_the_rest(owner: Caller, member: Caller) -> None:
    (memory_id,) = owner.add("Alice keeps bees", metadata={"topic": "hobby"}, expiration_date="2090-06-01")
    path = f"/v1/memories/{memory_id}/"
    status, answer = owner.put(path, {"text": "Alice sold her bees"})
    assert (status, answer["text"], answer["memory"]) == (200, "Alice sold her bees", "Alice sold her bees")
    memory = member.get(path)[1]
    assert (memory["memory"], memory["metadata"]) == ("Alice sold her bees", {"topic": "hobby"})
    assert memory["expiration_date"] == "2090-06-01"
    assert memory["updated_at"] > memory["created_at"]


def test_an_expiration_of_null_is_taken_away(owner: Caller) -> None:
    (memory_id,) = owner.add("Alice keeps bees", expiration_date="2090-06-01")
    assert owner.put(f"/v1/memories/{memory_id}/", {"expiration_date": None})[1]["expiration_date"] is None


def test_an_immutable_memory_is_not_updated(owner: Caller) -> None:
    (memory_id,) = owner.add("Alice keeps bees", immutable=True)
    status, answer = owner.put(f"/v1/memories/{memory_id}/", {"text": "changed"})
    assert (status, list(answer)) == (400, ["immutable"])
    assert owner.texts() == ["Alice keeps bees"]


def test_an_update_to_the_text_of_another_memory_is_409(owner: Caller) -> None:
    owner.add("Alice keeps bees")
    (memory_id,) = owner.add("Alice drinks tea")
    status, answer = owner.put(f"/v1/memories/{memory_id}/", {"text": "Alice keeps bees"})
    assert (status, list(answer)) == (409, ["detail"])
    assert set(owner.texts()) == {"Alice keeps bees", "Alice drinks tea"}


def test_a_deleted_memory_is_gone_from_every_call_but_history(owner: Caller) -> None:
    (memory_id,) = owner.add("Alice keeps bees")
    path = f"/v1/memories/{memory_id}/"
    owner.put(path, {"text": "Alice sold her bees"})
    assert owner.delete(path)[0] == 200
    assert [owner.get(path)[0], owner.put(path, {"text": "x"})[0], owner.delete(path)[0]] == [404] * 3
    assert owner.texts() == []
    search = {"query": "bees", "filters": {"user_id": "alice"}, "threshold": 0}
    assert owner.post("/v3/memories/search/", search) == (200, {"results": []})
    status, history = owner.get(f"{path}history/")
    assert status == 200
    assert [(entry["event"], entry["old_memory"], entry["new_memory"]) for entry in history] == [
        ("ADD", None, "Alice keeps bees"),
        ("UPDATE", "Alice keeps bees", "Alice sold her bees"),
        ("DELETE", "Alice sold her bees", None),
    ]
    assert {entry["memory_id"] for entry in history} == {memory_id}
    assert {entry["actor"] for entry in history} == {f"key:{owner.key[:12]}"}


def test_expired_memories_are_listed_only_when_asked_for(owner: Caller) -> None:
    (memory_id,) = owner.add("Alice keeps bees")
    owner.put(f"/v1/memories/{memory_id}/", {"expiration_date": "2020-01-01"})
    assert owner.texts() == []
    assert owner.texts(show_expired=True) == ["Alice keeps bees"]
