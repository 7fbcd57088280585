"""Which facts a chat leaves out can be a reranker's decision."""

import json
from typing import Any

import pytest
from tenants.models import KeyScope, Tenant

from inference.gateway.errors import ApiError
from inference.gateway.explaining import explain_request
from inference.gateway.options import parse_options
from inference.gateway.runtime import Runtime
from tests.factories import add_facts
from tests.gateway.helpers import QUESTION, ask, chat_key_of, facts_in, make_ready
from tests.reranker import Reranker

TEXTS = ("Bob lives in Lisbon.", "Carla paints boats.", "Bob has a dog.", "A lighthouse is near.")


@pytest.fixture
def key(tenant: Tenant) -> str:
    return chat_key_of(tenant, scopes=[KeyScope.CHAT])


def asked(**memory: Any) -> dict[str, Any]:
    return {"user_id": "alice", "top_k": 2, "rerank": True, **memory}


def test_the_most_relevant_stands_last_and_is_injected(
    runtime: Runtime, tenant: Tenant, key: str, reranker: Reranker
) -> None:
    make_ready(runtime, *add_facts(tenant, *TEXTS))
    plain, reranked = ask(runtime, key, memory=asked(rerank=False)), ask(runtime, key, memory=asked())
    assert facts_in(plain) == [TEXTS[2], TEXTS[0]]
    assert facts_in(reranked)[-1] == TEXTS[3]
    assert (reranked.mode, reranked.facts_injected) == ("inject", 2)
    assert len(reranker.asked) == 1


def test_where_all_facts_are_used_it_is_not_asked(
    runtime: Runtime, tenant: Tenant, key: str, reranker: Reranker
) -> None:
    add_facts(tenant, *TEXTS)
    assert len(facts_in(ask(runtime, key, memory=asked(top_k=4)))) == 4
    assert reranker.asked == []


def test_a_chat_without_an_answer_of_it_has_the_order_before(
    runtime: Runtime, tenant: Tenant, key: str, reranker: Reranker
) -> None:
    add_facts(tenant, *TEXTS)
    reranker.reply = lambda _: (503, {})
    plain, reranked = ask(runtime, key, memory=asked(rerank=False)), ask(runtime, key, memory=asked())
    assert facts_in(reranked) == facts_in(plain)


def test_the_explanation_tells_the_relevance_and_has_the_chats_facts(
    runtime: Runtime, tenant: Tenant, key: str, reranker: Reranker
) -> None:
    add_facts(tenant, *TEXTS)
    body = {"messages": [{"role": "user", "content": QUESTION}], "memory": asked()}
    seen = explain_request(runtime, raw_key=key, raw_body=json.dumps(body).encode())
    assert seen.ranked_by == "reranker"
    assert [fact.text for fact in seen.facts][::-1] == facts_in(ask(runtime, key, memory=asked()))
    assert seen.facts[0].scores.relevance == pytest.approx(1 / 3)
    assert {fact.scores.relevance for fact in seen.left_out} == {0.0}


def test_a_session_without_it_is_another(runtime: Runtime, tenant: Tenant, key: str, reranker: Reranker) -> None:
    add_facts(tenant, *TEXTS)
    first = asked(session_id="s", rerank=False)
    for _ in range(2):
        assert TEXTS[3] not in facts_in(ask(runtime, key, memory=first))
    assert facts_in(ask(runtime, key, memory=asked(session_id="s")))[-1] == TEXTS[3]


@pytest.mark.parametrize("value", ["yes", 1, None])
def test_only_true_and_false_are_taken(value: object) -> None:
    with pytest.raises(ApiError, match=r"memory.rerank must be true or false"):
        parse_options({"memory": {"user_id": "alice", "rerank": value}}, user_enables=True, top_k=5)
