"""Users, agents, apps and runs: listed with their counts, and erased so that no text of theirs is left."""

from urllib.parse import quote

import pytest
from django.db import connection
from tenants.models import Tenant

from tests.api.conftest import Caller

HOSTILE = ["a/b", "a:b", "a b", "..", "%2F", "ä👩‍🌾", "a'b\"c", "profile/profile", "alice\u202e", "a\\b", "?x=1#y"]


def path(name: str, kind: str = "user") -> str:
    return f"/v2/entities/{kind}/{quote(name, safe='')}/"


def test_entities_are_counted_by_kind(owner: Caller, member: Caller) -> None:
    owner.add("Alice keeps bees", "Alice plays the cello", agent_id="helper", run_id="r1")
    owner.add("Bob drinks tea", user_id="bob")
    answer = member.get("/v1/entities/")[1]
    counts = [(entity["type"], entity["name"], entity["total_memories"]) for entity in answer["results"]]
    assert counts == [("user", "alice", 2), ("user", "bob", 1), ("agent", "helper", 2), ("run", "r1", 2)]
    assert answer["count"] == 4
    page = member.get("/v1/entities/", page=2, page_size=3)[1]
    assert [entity["name"] for entity in page["results"]] == ["r1"]
    assert member.get(path("bob"))[1] == answer["results"][1]
    assert member.get(path("carol"))[0] == 404
    assert member.get(path("bob", "person"))[0] == 400


def test_more_entities_than_a_page_holds_are_all_listed(owner: Caller) -> None:
    for number in range(205):
        owner.add("Hello", user_id=f"user{number}")
    assert len(owner.get("/v1/entities/")[1]["results"]) == 205


def test_an_erased_user_leaves_no_text_anywhere(owner: Caller, tenant: Tenant) -> None:
    (memory_id,) = owner.add("Alice keeps seventeen-bees", metadata={"note": "seventeen-notes"})
    owner.put(f"/v1/memories/{memory_id}/", {"text": "Alice sold seventeen-bees"})
    (gone,) = owner.add("Alice bought seventeen-goats")
    owner.delete(f"/v1/memories/{gone}/")
    owner.add("Bob drinks tea", user_id="bob")
    owner.post("/v1/feedback/", {"memory_id": memory_id, "feedback": "NEGATIVE", "feedback_reason": "seventeen-hives"})
    header = {"Idempotency-Key": "once"}
    body = {"messages": [{"role": "user", "content": "Alice is seventeen-ish"}], "user_id": "alice", "infer": False}
    owner.client.post("/v3/memories/add/", body, content_type="application/json", headers=header)
    status, answer = owner.delete(path("alice"))
    assert (status, "2 memories" in answer["message"]) == (200, True)
    assert texts_with("seventeen") == []
    assert owner.get(path("alice"))[0] == 404
    assert owner.get(f"/v1/memories/{memory_id}/history/")[0] == 404
    assert owner.delete(path("alice"))[0] == 200
    assert owner.texts() == ["Bob drinks tea"]


def test_a_stranger_or_a_reader_erases_nothing(owner: Caller, member: Caller, stranger: Caller) -> None:
    owner.add("Alice keeps bees")
    assert stranger.delete(path("alice"))[0] == 404
    assert member.delete(path("alice"))[0] == 403
    assert owner.texts() == ["Alice keeps bees"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_means_itself_alone(owner: Caller, name: str) -> None:
    others = [other for other in ("a", "b", "alice", "profile", "%", "user") if other != name]
    owner.add("Theirs", user_id=name)
    for other in others:
        owner.add("Another's", user_id=other)
    assert owner.texts(filters={"user_id": name}) == ["Theirs"]
    if not name.endswith("/profile"):  # which is the path of a profile
        assert owner.get(path(name))[1]["total_memories"] == 1
    assert owner.delete("/v1/memories/", user_id=name)[1]["message"] == "1 memories deleted."
    owner.add("Theirs", user_id=name)
    assert owner.delete(path(name))[0] == 200
    assert owner.texts() == ["Another's"] * len(others)


def texts_with(word: str) -> list[str]:
    """Tables and rows in which it stands, of all that the database has."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        tables = [row[0] for row in cursor.fetchall()]
        found = []
        for table in tables:
            cursor.execute(f'SELECT t::text FROM "{table}" t WHERE t::text LIKE %s', [f"%{word}%"])
            found += [f"{table}: {row[0]}" for row in cursor.fetchall()]
    return found
