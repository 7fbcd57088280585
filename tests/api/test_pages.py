"""Lists come in pages that together hold everything once, newest first."""

from tests.api.conftest import Caller


def test_pages_follow_each_other_to_the_end(owner: Caller, member: Caller) -> None:
    owner.add(*(f"Fact {number}" for number in range(5)))
    pages = [member.post("/v3/memories/", {}, page=page, page_size=2)[1] for page in (1, 2, 3)]
    assert [page["count"] for page in pages] == [5, 5, 5]
    texts = [memory["memory"] for page in pages for memory in page["results"]]
    assert texts == [f"Fact {number}" for number in (4, 3, 2, 1, 0)]
    assert (pages[0]["previous"], pages[2]["next"]) == (None, None)
    assert "page=2" in pages[0]["next"]
    assert "page_size=2" in pages[0]["next"]


def test_the_page_of_an_empty_list_is_empty(owner: Caller) -> None:
    empty: dict[str, object] = {"count": 0, "next": None, "previous": None, "results": []}
    assert owner.post("/v3/memories/", {}) == (200, empty)
    assert owner.get("/v1/events/") == (200, empty)
