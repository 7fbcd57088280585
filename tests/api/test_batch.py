"""Many memories changed or deleted by id: all of them or none."""

from typing import Any

import pytest

from tests.api.conftest import Caller

UNKNOWN = "123e4567-e89b-12d3-a456-426614174000"


def test_a_batch_changes_every_memory_it_names(owner: Caller) -> None:
    ids = [owner.add(f"Fact {number}", user_id=f"user{number}")[0] for number in range(5)]
    updates = [{"memory_id": memory_id, "text": f"Changed {i}"} for i, memory_id in enumerate(ids)]
    assert owner.put("/v1/batch/", {"memories": updates})[0] == 200
    assert set(owner.texts()) == {f"Changed {number}" for number in range(5)}
    search = {"query": "Changed 3", "filters": {"user_id": "user3"}, "threshold": 0.9}
    assert owner.post("/v3/memories/search/", search)[1]["results"][0]["id"] == ids[3]
    assert [entry["event"] for entry in owner.get(f"/v1/memories/{ids[0]}/history/")[1]] == ["ADD", "UPDATE"]


def test_a_batch_update_that_fails_in_one_changes_none(owner: Caller, stranger: Caller) -> None:
    (free,), (fixed,) = owner.add("Alice keeps bees"), owner.add("Alice is 40", immutable=True)
    for bad, expected in (
        ({"memory_id": fixed, "text": "Alice is 41"}, 400),
        ({"memory_id": UNKNOWN, "text": "x"}, 404),
        ({"memory_id": stranger.add("Theirs")[0], "text": "taken over"}, 404),
        ({"memory_id": free, "text": "twice"}, 400),
    ):
        body = {"memories": [{"memory_id": free, "text": "Alice sold her bees"}, bad]}
        assert owner.put("/v1/batch/", body)[0] == expected
    assert set(owner.texts()) == {"Alice keeps bees", "Alice is 40"}
    assert stranger.texts() == ["Theirs"]


def test_a_batch_deletes_what_it_names_and_can_be_sent_again(owner: Caller, stranger: Caller) -> None:
    ids = owner.add("Alice keeps bees", "Alice plays the cello", "Alice drinks tea")
    body = {"memories": [{"memory_id": memory_id} for memory_id in ids[:2]]}
    assert stranger.delete("/v1/batch/", body)[0] == 404
    assert owner.delete("/v1/batch/", body) == (200, {"message": "Successfully deleted 2 memories"})
    assert owner.delete("/v1/batch/", body) == (200, {"message": "Successfully deleted 0 memories"})
    assert owner.texts() == ["Alice drinks tea"]


def test_a_batch_delete_with_an_unknown_id_deletes_none(owner: Caller) -> None:
    (memory_id,) = owner.add("Alice keeps bees")
    status, answer = owner.delete("/v1/batch/", {"memories": [{"memory_id": memory_id}, {"memory_id": UNKNOWN}]})
    assert (status, UNKNOWN in answer["detail"]) == (404, True)
    assert owner.texts() == ["Alice keeps bees"]


@pytest.mark.parametrize(
    "memories",
    [
        None,
        [],
        "x",
        [7],
        [{}],
        [{"memory_id": "x"}],
        [{"memory_id": UNKNOWN, "txt": "x"}],
        [{"memory_id": UNKNOWN}] * 1001,
    ],
)
def test_a_batch_that_cannot_be_is_400(owner: Caller, memories: Any) -> None:
    for status, answer in (
        owner.put("/v1/batch/", {"memories": memories}),
        owner.delete("/v1/batch/", {"memories": memories}),
    ):
        assert (status, list(answer)) == (400, ["memories"])


def test_a_batch_update_that_changes_nothing_is_400(owner: Caller) -> None:
    (memory_id,) = owner.add("Alice keeps bees")
    assert owner.put("/v1/batch/", {"memories": [{"memory_id": memory_id}]})[0] == 400
