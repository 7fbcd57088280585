"""A reranker's order takes the place of the one that facts were found in, if it gives one."""

import time
from collections.abc import Callable
from typing import Any

import pytest
from facts import reranking
from facts.models import Fact
from facts.reranking import MOST_RERANKED
from facts.search import ScoredFact, facts_search
from tenants.models import Tenant

from tests.factories import ALICE, add_facts
from tests.reranker import Reply, Reranker
from tests.workers.troubled_engine import free_port

QUESTION = "Where is the keeper?"
TEXTS = ("The keeper sleeps.", "The keeper is away.", "A lighthouse stands there.", "On rocks, a lighthouse shines.")


def found(tenant: Tenant, *, with_reranker: bool = True, **options: Any) -> list[ScoredFact]:
    asked = {"scopes": ALICE, "top_k": 2, "threshold": -1.0, **options}
    return facts_search(tenant=tenant, query=QUESTION, with_reranker=with_reranker, **asked)


def texts(facts: list[ScoredFact]) -> list[str]:
    return [one.fact.text for one in facts]


def test_the_most_relevant_come_first_though_others_are_nearer(tenant: Tenant, reranker: Reranker) -> None:
    add_facts(tenant, *TEXTS)
    assert texts(found(tenant, with_reranker=False)) == [TEXTS[1], TEXTS[0]]
    seen = found(tenant)
    assert texts(seen) == [TEXTS[2], TEXTS[3]]
    assert [one.relevance for one in seen] == [1 / 3, 1 / 13]
    (asked,) = reranker.asked
    assert (asked["query"], asked["model"]) == (QUESTION, "judge")
    assert sorted(asked["documents"]) == sorted(TEXTS)
    assert reranker.keys == ["Bearer a-key"]


def test_scores_stay_the_cosine_and_the_threshold_is_theirs(tenant: Tenant, reranker: Reranker) -> None:
    add_facts(tenant, *TEXTS)
    before = {one.fact.text: one.score or 0.0 for one in found(tenant, top_k=4, with_reranker=False)}
    seen = found(tenant, top_k=4)
    assert {one.fact.text: one.score for one in seen} == before
    least = sorted(before.values())[2]
    assert sorted(texts(found(tenant, top_k=4, threshold=least))) == sorted(t for t, s in before.items() if s >= least)


def test_it_is_asked_about_the_best_and_the_others_follow(tenant: Tenant, reranker: Reranker) -> None:
    add_facts(tenant, *(f"The keeper has {number} lamps." for number in range(MOST_RERANKED + 5)))
    plain = texts(found(tenant, top_k=MOST_RERANKED + 5, with_reranker=False))
    reranker.best = plain[70].removeprefix("The keeper ")
    seen = found(tenant, top_k=MOST_RERANKED + 5)
    assert len(reranker.asked[0]["documents"]) == MOST_RERANKED
    assert texts(seen)[0] == plain[70]
    assert texts(seen)[MOST_RERANKED:] == plain[MOST_RERANKED:]
    assert [one.relevance for one in seen[MOST_RERANKED:]] == [None] * 5


def test_facts_without_vector_follow_as_before(tenant: Tenant, reranker: Reranker) -> None:
    facts = add_facts(tenant, *TEXTS)
    Fact.objects.filter(pk=facts[0].pk).update(embedding=None)
    seen = found(tenant, top_k=4)
    assert texts(seen) == [TEXTS[2], TEXTS[3], TEXTS[1], TEXTS[0]]
    assert (seen[3].score, seen[3].relevance) == (None, None)


def test_nothing_found_is_no_question(tenant: Tenant, reranker: Reranker) -> None:
    add_facts(tenant, *TEXTS)
    assert found(tenant, threshold=0.99) == []
    assert reranker.asked == []


def test_without_a_reranker_nothing_changes(tenant: Tenant) -> None:
    add_facts(tenant, *TEXTS)
    assert found(tenant) == found(tenant, with_reranker=False)


def _answers(*scores: tuple[int, object]) -> Callable[[dict[str, Any]], Reply]:
    return lambda _: (200, {"results": [{"index": index, "relevance_score": score} for index, score in scores]})


@pytest.mark.parametrize(
    "reply",
    [
        lambda _: (500, {}),
        lambda _: (401, {"error": "no such key"}),
        lambda _: (200, []),
        lambda _: (200, {"results": [{"index": 0}]}),
        _answers((0, 0.5), (1, 0.4)),
        _answers((0, 0.5), (1, 0.4), (2, 0.3), (9, 0.2)),
        _answers((0, 0.5), (1, 0.4), (2, 0.3), (3, None)),
        _answers((0, 0.5), (1, 0.4), (2, 0.3), (3, float("nan"))),
    ],
    ids=["fails", "refuses", "is no reranker", "has no scores", "forgets some", "invents one", "null", "not a number"],
)
def test_a_useless_answer_leaves_the_order(
    reply: Callable[[dict[str, Any]], Reply], tenant: Tenant, reranker: Reranker
) -> None:
    add_facts(tenant, *TEXTS)
    reranker.reply = reply
    assert found(tenant, top_k=4) == found(tenant, top_k=4, with_reranker=False)
    assert len(reranker.asked) == 1


def test_one_that_failed_is_let_alone_for_a_while(
    tenant: Tenant, reranker: Reranker, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_facts(tenant, *TEXTS)
    reranker.reply = lambda _: (500, {})
    found(tenant), found(tenant)
    assert len(reranker.asked) == 1
    reranker.reply = reranker.relevance
    monkeypatch.setattr(reranking, "_paused_until", time.monotonic() - 1)
    assert texts(found(tenant)) == [TEXTS[2], TEXTS[3]]


def test_nobody_there_leaves_the_order(tenant: Tenant, reranker: Reranker, settings: Any) -> None:
    add_facts(tenant, *TEXTS)
    settings.ENV = settings.ENV.model_copy(update={"rerank_url": f"http://127.0.0.1:{free_port()}/v1"})
    assert found(tenant) == found(tenant, with_reranker=False)
