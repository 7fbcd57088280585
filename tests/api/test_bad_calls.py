"""Bad ids, pages, searches, updates and deletes are refused, and nothing is changed."""

from typing import Any

import pytest

from tests.api.conftest import Caller


@pytest.mark.parametrize("memory_id", ["7", "not-a-uuid", "123e4567-e89b-12d3-a456", "%00", "a" * 300])
def test_a_bad_id_is_400(owner: Caller, memory_id: str) -> None:
    for status, answer in (
        owner.get(f"/v1/memories/{memory_id}/"),
        owner.put(f"/v1/memories/{memory_id}/", {"text": "x"}),
        owner.delete(f"/v1/memories/{memory_id}/"),
        owner.get(f"/v1/memories/{memory_id}/history/"),
    ):
        assert (status, list(answer)) == (400, ["memory_id"])
    assert owner.get(f"/v1/event/{memory_id}/")[0] == 400


def test_an_unknown_id_is_404(owner: Caller) -> None:
    path = "/v1/memories/123e4567-e89b-12d3-a456-426614174000/"
    assert [owner.get(path)[0], owner.put(path, {"text": "x"})[0], owner.delete(path)[0]] == [404] * 3
    assert owner.get(f"{path}history/")[0] == 404


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({"page": 99_999_999_999_999_999_999}, 400),
        ({"page": 999_999_999}, 404),
        ({"page": 2}, 404),
        ({"page": 0}, 400),
        ({"page": -1}, 400),
        ({"page": "last"}, 400),
        ({"page": "²"}, 400),
        ({"page_size": 0}, 400),
        ({"page_size": 201}, 400),
        ({"page_size": "all"}, 400),
    ],
)
def test_a_page_that_cannot_be_is_refused(owner: Caller, query: dict[str, Any], expected: int) -> None:
    for status, answer in (owner.post("/v3/memories/", {}, **query), owner.get("/v1/events/", **query)):
        assert (status, len(answer)) == (expected, 1)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"query": ""}, "query"),
        ({"query": "  "}, "query"),
        ({"query": None}, "query"),
        ({"query": 7}, "query"),
        ({"query": "a\x00b"}, "query"),
        ({"query": "a\ud800"}, "query"),
        ({"query": "x" * 40_000}, "query"),
        ({"top_k": 0}, "top_k"),
        ({"top_k": 1001}, "top_k"),
        ({"top_k": "many"}, "top_k"),
        ({"top_k": True}, "top_k"),
        ({"threshold": "high"}, "threshold"),
        ({"threshold": 2}, "threshold"),
        ({"threshold": "nan"}, "threshold"),
        ({"show_expired": "no"}, "show_expired"),
        ({"fields": "memory"}, "fields"),
        ({"fields": ["memory", "secret"]}, "fields"),
        ({"categories": "travel"}, "categories"),
        ({"metadata": "x"}, "metadata"),
        ({"user_id": "alice"}, "user_id"),
        ({"filters": None}, "filters"),
    ],
)
def test_a_bad_search_is_400_on_its_field(owner: Caller, change: dict[str, Any], field: str) -> None:
    body = {"query": "bees", "filters": {"user_id": "alice"}, **change}
    status, answer = owner.post("/v3/memories/search/", body)
    assert (status, list(answer)) == (400, [field])


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "detail"),
        ({"text": None}, "text"),
        ({"text": " "}, "text"),
        ({"text": 7}, "text"),
        ({"text": "x" * 40_000}, "text"),
        ({"metadata": None}, "metadata"),
        ({"metadata": "x"}, "metadata"),
        ({"metadata": {"user_id": "bob"}}, "metadata"),
        ({"expiration_date": "never"}, "expiration_date"),
        ({"timestamp": "noon"}, "timestamp"),
        ({"user_id": "bob"}, "user_id"),
        ({"memory": "x"}, "memory"),
    ],
)
def test_a_bad_update_is_400_and_changes_nothing(owner: Caller, body: dict[str, Any], field: str) -> None:
    (memory_id,) = owner.add("Alice keeps bees")
    path = f"/v1/memories/{memory_id}/"
    before = owner.get(path)
    status, answer = owner.put(path, body)
    assert (status, list(answer)) == (400, [field])
    assert owner.get(path) == before


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"user_id": ""},
        {"user_id": "*"},
        {"userid": "alice"},
        {"filters": "alice"},
        {"filters": '{"user_id": 7}'},
        {"filters": '{"session_id": "s"}'},
        {"filters": "[" * 10_000},
    ],
)
def test_a_delete_of_many_that_names_nobody_deletes_nothing(owner: Caller, query: dict[str, str]) -> None:
    owner.add("Alice keeps bees")
    status, answer = owner.delete("/v1/memories/", **query)
    assert (status, bool(answer)) == (400, True)
    assert owner.texts() == ["Alice keeps bees"]
