"""What a filter selects, and that a filter nobody understands is refused."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.api.conftest import Caller

TODAY = datetime.now(UTC).date()
TOMORROW, YESTERDAY = (TODAY + timedelta(days=1)).isoformat(), (TODAY - timedelta(days=1)).isoformat()


@pytest.fixture
def people(owner: Caller) -> Caller:
    """bees (alice), trip (alice, agent guide, tagged), tea (bob)."""
    owner.add("Alice keeps bees", metadata={"topic": "hobby", "rank": 1})
    owner.add(
        "Alice plans a trip to Oslo",
        agent_id="guide",
        metadata={"topic": "travel", "rank": 2, "tags": ["north", "cold"]},
        categories=["travel", "plans"],
        timestamp=1_700_000_000,
        expiration_date="2090-06-01",
    )
    owner.add("Bob drinks tea", user_id="bob")
    return owner


NAMES = {"Alice keeps bees": "bees", "Alice plans a trip to Oslo": "trip", "Bob drinks tea": "tea"}


Cases = list[tuple[dict[str, Any], str]]
SCOPES: Cases = [
    ({}, "bees trip tea"),
    ({"user_id": "alice"}, "bees trip"),
    ({"user_id": "nobody"}, ""),
    ({"user_id": {"eq": "bob"}}, "tea"),
    ({"user_id": {"ne": "bob"}}, "bees trip"),
    ({"user_id": {"in": ["alice", "bob"]}}, "bees trip tea"),
    ({"agent_id": "*"}, "trip"),
    ({"user_id": "alice", "agent_id": "guide"}, "trip"),
]
LOGIC: Cases = [
    ({"AND": [{"user_id": "alice"}, {"agent_id": "*"}]}, "trip"),
    ({"OR": [{"user_id": "bob"}, {"agent_id": "guide"}]}, "trip tea"),
    ({"NOT": [{"user_id": "bob"}, {"agent_id": "guide"}]}, "bees"),
    ({"NOT": {"user_id": "bob"}}, "bees trip"),
    ({"AND": [{"user_id": "alice"}, {"NOT": [{"categories": {"contains": "travel"}}]}]}, "bees"),
    ({"AND": [{"OR": [{"user_id": "bob"}, {"user_id": "alice"}]}, {"keywords": "OSLO"}]}, "trip"),
]
TEXT: Cases = [
    ({"keywords": {"contains": "oslo"}}, ""),
    ({"text": "Bob drinks tea"}, "tea"),
    ({"text": {"icontains": "alice"}}, "bees trip"),
]
CATEGORIES: Cases = [
    ({"categories": ["plans", "other"]}, "trip"),
    ({"categories": "travel"}, "trip"),
    ({"categories": {"ne": "travel"}}, "bees tea"),
    ({"categories": "*"}, "trip"),
]
METADATA: Cases = [
    ({"metadata": {"topic": "hobby"}}, "bees"),
    ({"metadata": {"topic": {"ne": "hobby"}}}, "trip tea"),
    ({"metadata": {"topic": {"in": ["hobby", "travel"]}}}, "bees trip"),
    ({"metadata": {"topic": "*"}}, "bees trip"),
    ({"metadata": {"tags": {"contains": "cold"}}}, "trip"),
    ({"metadata": {"topic": "travel", "rank": 1}}, ""),
    ({"NOT": [{"metadata": {"topic": "hobby"}}]}, "trip tea"),
]
DATES: Cases = [
    ({"created_at": {"gte": TODAY.isoformat(), "lte": TODAY.isoformat()}}, "bees trip tea"),
    ({"created_at": {"gt": TODAY.isoformat()}}, ""),
    ({"created_at": {"lt": TOMORROW}}, "bees trip tea"),
    ({"updated_at": {"lte": YESTERDAY}}, ""),
    ({"created_at": {"ne": TODAY.isoformat()}}, ""),
    ({"timestamp": "2023-11-14"}, "trip"),
    ({"timestamp": {"gte": "2023-11-14T22:13:20Z"}}, "trip"),
    ({"timestamp": {"gt": "2023-11-14T23:13:20+01:00"}}, ""),
    ({"NOT": [{"timestamp": "*"}]}, "bees tea"),
    ({"expiration_date": {"lte": "2090-06-01"}}, "trip"),
    ({"expiration_date": {"lt": "2090-06-01"}}, ""),
    ({"expiration_date": "2090-06-01"}, "trip"),
]


@pytest.mark.parametrize(
    "cases",
    [SCOPES, LOGIC, TEXT, CATEGORIES, METADATA, DATES],
    ids=["scopes", "logic", "text", "categories", "metadata", "dates"],
)
def test_a_filter_selects(people: Caller, cases: Cases) -> None:
    selected = [(filters, {NAMES[text] for text in people.texts(filters=filters)}) for filters, _ in cases]
    assert selected == [(filters, set(expected.split())) for filters, expected in cases]


def test_memory_ids_select_those_memories(people: Caller) -> None:
    ids = [memory["id"] for memory in people.post("/v3/memories/", {})[1]["results"]]
    assert len(people.texts(filters={"memory_ids": ids[:2]})) == 2
    assert len(people.texts(filters={"memory_ids": {"ne": ids[0]}})) == 2


@pytest.mark.parametrize(
    "filters",
    [
        {"user": "alice"},
        {"userid": {"in": ["alice"]}},
        {"and": [{"user_id": "alice"}]},
        {"AND": []},
        {"AND": [{}]},
        {"AND": {"user_id": "alice"}},
        {"OR": ["alice"]},
        {"user_id": ""},
        {"user_id": "  "},
        {"user_id": None},
        {"user_id": 7},
        {"user_id": ["alice"]},
        {"user_id": {}},
        {"user_id": {"gt": "a"}},
        {"user_id": {"in": "alice"}},
        {"user_id": {"in": []}},
        {"user_id": {"in": ["a"] * 1001}},
        {"user_id": "a\x00b"},
        {"keywords": "\ud800"},
        {"created_at": "yesterday"},
        {"created_at": 5},
        {"created_at": {"gte": "2026-01-01T00:00:00"}},
        {"created_at": {"gte": "9999-12-31T23:59:59.999999Z"}},
        {"expiration_date": {"lte": "9999-12-31"}},
        {"created_at": {"gte": "0001-01-01T00:00:00+05:00"}},
        {"memory_ids": ["not-a-uuid"]},
        {"memory_ids": "not-a-uuid"},
        {"memory_ids": [1]},
        {"metadata": "x"},
        {"metadata": {}},
        {"metadata": {"rank": {"gt": 1}}},
        {"metadata": {"rank": {"in": 1}}},
        {"metadata": {"note": "a\x00b"}},
        {"AND": [{"user_id": "alice"}] * 201},
        "alice",
        ["alice"],
        7,
    ],
)
def test_a_filter_nobody_understands_is_400(owner: Caller, filters: Any) -> None:
    for path, body in (("/v3/memories/", {}), ("/v3/memories/search/", {"query": "tea"})):
        status, answer = owner.post(path, {**body, "filters": filters})
        assert (status, list(answer)) == (400, ["filters"])


def test_filters_nested_too_deeply_are_400(owner: Caller) -> None:
    filters: dict[str, Any] = {"user_id": "alice"}
    for _ in range(20):
        filters = {"AND": [filters]}
    assert owner.post("/v3/memories/", {"filters": filters})[0] == 400


def test_the_shorthands_of_list_narrow_the_filter(people: Caller) -> None:
    assert people.texts(categories=["travel"]) == ["Alice plans a trip to Oslo"]
    assert people.texts(filters={"user_id": "bob"}, start_date=TODAY.isoformat()) == ["Bob drinks tea"]
    assert people.texts(end_date=YESTERDAY) == []
    status, answer = people.post("/v3/memories/", {"end_date": "soon"})
    assert (status, list(answer)) == (400, ["end_date"])
