"""The older forms of add, list and search still work, and answer what they answered."""

from tests.api.conftest import Caller

TEA = {"messages": [{"role": "user", "content": "Bob drinks tea"}], "user_id": "bob", "infer": False}


def test_an_older_add_answers_a_list_or_results_as_asked(owner: Caller, member: Caller) -> None:
    status, answer = owner.post("/v1/memories/", TEA)
    assert (status, [(entry["event"], entry["data"]["memory"]) for entry in answer]) == (
        200,
        [("ADD", "Bob drinks tea")],
    )
    again = owner.post("/v1/memories/", {**TEA, "output_format": "v1.1"})[1]
    assert [(entry["id"], entry["event"]) for entry in again["results"]] == [(answer[0]["id"], "NONE")]
    assert member.post("/v1/memories/", TEA)[0] == 403


def test_an_older_list_names_whom_in_its_query(owner: Caller, member: Caller) -> None:
    owner.add("Alice keeps bees", metadata={"topic": "hobby"}, categories=["animals"])
    owner.add("Alice plays the cello")
    owner.add("Bob drinks tea", user_id="bob")
    status, answer = member.get("/v1/memories/", user_id="alice")
    assert (status, [memory["memory"] for memory in answer]) == (200, ["Alice plays the cello", "Alice keeps bees"])
    for query in ({"categories": "animals,plants"}, {"metadata": '{"topic": "hobby"}'}, {"keywords": "BEES"}):
        assert [memory["memory"] for memory in member.get("/v1/memories/", **query)[1]] == ["Alice keeps bees"]
    page = member.get("/v1/memories/", user_id="alice", page=2, page_size=1)[1]
    assert (page["count"], [memory["memory"] for memory in page["results"]]) == (2, ["Alice keeps bees"])


def test_the_second_form_of_list_takes_filters(owner: Caller) -> None:
    owner.add("Alice keeps bees")
    owner.add("Bob drinks tea", user_id="bob")
    body = {"filters": {"NOT": [{"user_id": "alice"}]}}
    assert [memory["memory"] for memory in owner.post("/v2/memories/", body)[1]] == ["Bob drinks tea"]
    results = owner.post("/v2/memories/", {**body, "output_format": "v1.1"})[1]["results"]
    assert [memory["memory"] for memory in results] == ["Bob drinks tea"]
    assert owner.post("/v2/memories/", body, page=1)[1]["count"] == 1


def test_both_older_searches_answer_a_list_or_results_as_asked(owner: Caller, stranger: Caller) -> None:
    owner.add("Alice keeps bees", "Alice plays the cello")
    for path, names in (
        ("/v1/memories/search/", {"user_id": "alice"}),
        ("/v2/memories/search/", {"filters": {"AND": [{"user_id": "alice"}]}}),
    ):
        body = {"query": "instrument", "threshold": 0, "limit": 1, **names}
        status, answer = owner.post(path, body)
        assert (status, [memory["memory"] for memory in answer]) == (200, ["Alice plays the cello"])
        assert len(owner.post(path, {**body, "output_format": "v1.1"})[1]["results"]) == 1
        assert stranger.post(path, body)[1] == []


def test_what_nobody_understands_is_400_here_too(owner: Caller) -> None:
    for status, answer in (
        owner.get("/v1/memories/", userid="alice"),
        owner.get("/v1/memories/", metadata="{"),
        owner.get("/v1/memories/", start_date="soon"),
        owner.post("/v2/memories/", {"filters": {"userid": "alice"}}),
        owner.post("/v1/memories/search/", {"query": " ", "user_id": "alice"}),
        owner.post("/v1/memories/search/", {"query": "tea", "user_id": " "}),
    ):
        assert (status, len(answer)) == (400, 1)
