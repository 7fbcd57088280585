"""What a key thinks of a memory, and what is remembered in short."""

import pytest
from facts.models import Feedback
from tenants.models import Tenant
from tenants.scope import tenant_scope

from tests.api.conftest import Caller

UNKNOWN = "123e4567-e89b-12d3-a456-426614174000"


def said(tenant: Tenant) -> list[tuple[str, str]]:
    with tenant_scope(tenant):
        return list(Feedback.objects.values_list("verdict", "reason"))


def test_the_latest_word_counts_and_can_be_taken_back(owner: Caller, tenant: Tenant) -> None:
    (memory_id,) = owner.add("Alice keeps bees")
    owner.post("/v1/feedback/", {"memory_id": memory_id, "feedback": "POSITIVE"})
    status, answer = owner.post(
        "/v1/feedback/", {"memory_id": memory_id, "feedback": "VERY_NEGATIVE", "feedback_reason": "she sold them"}
    )
    assert (status, answer["feedback"], said(tenant)) == (200, "VERY_NEGATIVE", [("VERY_NEGATIVE", "she sold them")])
    assert owner.post("/v1/feedback/", {"memory_id": memory_id, "feedback": None})[1]["id"] is None
    assert said(tenant) == []


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"memory_id": UNKNOWN, "feedback": "POSITIVE"}, 404),
        ({"memory_id": "x", "feedback": "POSITIVE"}, 400),
        ({"memory_id": UNKNOWN, "feedback": "GREAT"}, 400),
        ({"feedback": "POSITIVE"}, 400),
    ],
)
def test_bad_feedback_is_refused(owner: Caller, body: dict[str, str], status: int) -> None:
    assert owner.post("/v1/feedback/", body)[0] == status


def test_a_stranger_or_a_reader_has_no_say(owner: Caller, member: Caller, stranger: Caller, tenant: Tenant) -> None:
    body = {"memory_id": owner.add("Alice keeps bees")[0], "feedback": "NEGATIVE"}
    assert (stranger.post("/v1/feedback/", body)[0], member.post("/v1/feedback/", body)[0]) == (404, 403)
    assert said(tenant) == []


def test_a_summary_says_what_memories_say_and_nothing_else(owner: Caller, member: Caller, stranger: Caller) -> None:
    owner.add("Alice keeps bees", "Alice plays the cello")
    owner.add("Bob drinks tea", user_id="bob")
    body = {"filters": {"user_id": "alice"}}
    assert member.post("/v1/summary/", body)[1] == {
        "count": 2,
        "summary": "- Alice plays the cello\n- Alice keeps bees",
        "status": "pending",
        "error": "",
    }
    nothing = {"count": 0, "summary": "", "status": "insufficient_data", "error": ""}
    assert stranger.post("/v1/summary/", body)[1] == nothing


def test_a_summary_is_short_however_much_there_is(owner: Caller) -> None:
    owner.add(*(f"Fact {number} " + "word " * 50 for number in range(40)))
    answer = owner.post("/v1/summary/", {})[1]
    assert answer["count"] == 40
    assert 1500 < len(answer["summary"]) <= 2000
