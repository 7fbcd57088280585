"""Search ranks by meaning, among exactly what the filters select."""

from tests.api.conftest import Caller
from tests.reranker import Reranker

SEARCH = "/v3/memories/search/"


def test_the_nearest_memory_comes_first_with_its_score(owner: Caller, member: Caller) -> None:
    owner.add("Alice keeps bees in her garden", "Alice works as a nurse", "Alice plays the cello", metadata={"a": 1})
    body = {"query": "Which musical instrument does she play?", "filters": {"user_id": "alice"}, "threshold": 0}
    status, answer = member.post(SEARCH, body)
    assert status == 200
    first = answer["results"][0]
    assert (first["memory"], first["metadata"], first["user_id"]) == ("Alice plays the cello", {"a": 1}, "alice")
    assert first["score_breakdown"] == {"semantic": first["score"]}
    scores = [memory["score"] for memory in answer["results"]]
    assert scores == sorted(scores, reverse=True)


def test_a_filtered_search_returns_as_many_as_match(owner: Caller) -> None:
    owner.add(*(f"Alice met person {number} at the beach" for number in range(30)))
    owner.add(*(f"Alice read book {number}" for number in range(5)), categories=["books"])
    filters = {"AND": [{"user_id": "alice"}, {"categories": {"contains": "books"}}]}
    body = {"query": "people at the beach", "filters": filters, "top_k": 5, "threshold": 0}
    answer = owner.post(SEARCH, body)[1]
    assert len(answer["results"]) == 5
    assert all("book" in memory["memory"] for memory in answer["results"])
    assert len(owner.post(SEARCH, {**body, "top_k": 2})[1]["results"]) == 2


def test_words_move_a_memory_up_and_leave_its_score(owner: Caller) -> None:
    parcels = [f"The parcel with number {number} was sent to a customer." for number in range(700, 730)]
    owner.add(*parcels, "Zofia was ill on Monday.")
    question = "How are packages shipped to clients? Zofia wonders."
    body = {"query": question, "filters": {"user_id": "alice"}, "threshold": 0, "top_k": 3}
    for path in (SEARCH, "/v2/memories/search/", "/v1/memories/search/"):
        answer = owner.post(path, body)[1]
        results = answer["results"] if isinstance(answer, dict) else answer
        scores = {memory["memory"]: memory["score"] for memory in results}
        assert len(scores) == 3
        assert scores["Zofia was ill on Monday."] < min(s for text, s in scores.items() if text in parcels)


def test_a_threshold_leaves_out_what_is_far_away(owner: Caller) -> None:
    owner.add("Alice plays the cello", "The invoice number is 4711")
    body = {"query": "Alice plays the cello", "filters": {"user_id": "alice"}, "threshold": 0.9}
    assert [memory["memory"] for memory in owner.post(SEARCH, body)[1]["results"]] == ["Alice plays the cello"]


def test_categories_metadata_and_fields_narrow_the_answer(owner: Caller) -> None:
    owner.add("Alice plays the cello", categories=["music"], metadata={"level": "good"})
    owner.add("Alice plays the flute", categories=["music"], metadata={"level": "poor"})
    body = {"query": "music", "filters": {"user_id": "alice"}, "threshold": 0, "categories": ["music"]}
    body |= {"metadata": {"level": "poor"}, "fields": ["memory"]}
    (result,) = owner.post(SEARCH, body)[1]["results"]
    assert (set(result), result["memory"]) == ({"id", "memory"}, "Alice plays the flute")


def test_a_changed_memory_is_found_by_its_new_text_only(owner: Caller) -> None:
    (memory_id,) = owner.add("Alice plays the cello")
    owner.put(f"/v1/memories/{memory_id}/", {"text": "The harvest was poor that year"})
    body = {"query": "Alice plays the cello", "filters": {"user_id": "alice"}, "threshold": 0.9}
    assert owner.post(SEARCH, body)[1]["results"] == []
    assert owner.post(SEARCH, {**body, "query": "poor harvest that year"})[1]["results"][0]["id"] == memory_id


def test_an_expired_memory_is_found_only_when_asked_for(owner: Caller) -> None:
    (memory_id,) = owner.add("Alice plays the cello")
    owner.put(f"/v1/memories/{memory_id}/", {"expiration_date": "2020-01-01"})
    body = {"query": "cello", "filters": {"user_id": "alice"}, "threshold": 0}
    assert owner.post(SEARCH, body)[1]["results"] == []
    assert len(owner.post(SEARCH, {**body, "show_expired": True})[1]["results"]) == 1


def test_a_reranker_gives_the_order_where_it_is_asked_for(owner: Caller, reranker: Reranker) -> None:
    owner.add("Alice plays the cello", "Alice keeps bees", "Alice saw a lighthouse")
    body = {"query": "Which instrument does she play?", "filters": {"user_id": "alice"}, "threshold": 0, "top_k": 1}
    (nearest,) = owner.post(SEARCH, body)[1]["results"]
    (first,) = owner.post(SEARCH, {**body, "rerank": True})[1]["results"]
    assert (nearest["memory"], nearest["score_breakdown"]) == ("Alice plays the cello", {"semantic": nearest["score"]})
    assert first["memory"] == "Alice saw a lighthouse"
    assert first["score_breakdown"] == {"semantic": first["score"], "rerank": 1 / 13}
    assert owner.post(SEARCH, {**body, "rerank": "perhaps"})[0] == 400
