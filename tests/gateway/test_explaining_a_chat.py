"""A chat explained: the very facts, order, prompt and injection that the chat would have, with the reasons."""

import json
from typing import Any

import pytest
from facts.models import Encoding, Fact
from facts.scopes import Scopes
from tenants.models import KeyScope, Tenant
from tenants.scope import tenant_scope

from inference.gateway.errors import ApiError
from inference.gateway.explaining import explain_request
from inference.gateway.explanation import Explanation
from inference.gateway.runtime import Runtime
from tests.factories import People, add_facts
from tests.gateway.helpers import QUESTION, ask, chat_key_of, facts_in, injected_segments, make_ready

TEXTS = ("Bob lives in Lisbon.", "Carla paints boats.", "Bob has a dog.", "The shop opens at nine.")


def explain(runtime: Runtime, key: str, **body: Any) -> Explanation:
    asked = {"messages": [{"role": "user", "content": QUESTION}], **body}
    return explain_request(runtime, raw_key=key, raw_body=json.dumps(asked).encode())


@pytest.fixture
def key(tenant: Tenant) -> str:
    return chat_key_of(tenant, scopes=[KeyScope.CHAT])


def prompt_of(explanation: Explanation) -> str:
    return "".join(part.text for part in explanation.prompt.parts)


def test_the_explanation_is_what_the_chat_then_does(runtime: Runtime, tenant: Tenant, key: str) -> None:
    facts = add_facts(tenant, *TEXTS)
    make_ready(runtime, *facts[1:3])
    memory = {"user_id": "alice", "top_k": 3}
    explanation, plan = explain(runtime, key, memory=memory), ask(runtime, key, memory=memory)
    assert (explanation.mode, len(explanation.facts)) == (plan.mode, plan.facts) == ("inject", 3)
    by_place = sorted(explanation.facts, key=lambda fact: fact.position)
    assert [fact.text for fact in by_place] == facts_in(plan)
    assert tuple(fact.id for fact in by_place) == plan.fact_ids
    assert sum(fact.use == "injected" for fact in explanation.facts) == plan.facts_injected
    assert explanation.prompt.tokens == plan.prompt_tokens
    assert explanation.prompt.tokens_injected == plan.tokens_injected


def test_the_parts_are_the_prompt_to_the_character_and_the_token(runtime: Runtime, tenant: Tenant, key: str) -> None:
    make_ready(runtime, *add_facts(tenant, *TEXTS))
    chat = [
        {"role": "system", "content": "Answer in French."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Bonjour"},
        {"role": "user", "content": QUESTION},
    ]
    explanation = explain(runtime, key, memory={"user_id": "alice"}, messages=chat)
    plan = ask(runtime, key, memory={"user_id": "alice"}, messages=chat)
    ids = plan.body["kv_transfer_params"]["prompt_token_ids"]
    assert prompt_of(explanation) == runtime.template.tokenizer.decode(ids)
    parts = explanation.prompt.parts
    kinds = [part.kind for part in parts]
    assert kinds == ["header", *["fact"] * 4, "closing", "system", "history", "question", "template"]
    assert sum(part.tokens for part in parts) == len(ids) == explanation.prompt.tokens
    texts = {part.kind: part.text for part in parts}
    assert (texts["system"].strip(), texts["question"]) == ("Answer in French.", QUESTION)
    assert "Bonjour" in texts["history"]
    injected = [part.tokens for part in parts if part.injected]
    assert injected == [segment.tokens for segment in injected_segments(plan)]
    assert [part.fact_id for part in parts if part.kind == "fact"] == list(plan.fact_ids)


def test_each_fact_has_its_scores_and_who_found_it(runtime: Runtime, tenant: Tenant, key: str) -> None:
    add_facts(tenant, *TEXTS)
    (waiting,) = add_facts(tenant, "Quinn knows.")
    Fact.objects.filter(pk=waiting.pk).update(embedding=None)
    explanation = explain(runtime, key, memory={"user_id": "alice", "top_k": 3})
    assert explanation.ranked_by == "vectors and words"
    best, *_, last = explanation.facts
    assert (best.text, best.scores.rank, best.scores.word_rank) == (TEXTS[0], 1, 1)
    assert best.scores.fused == pytest.approx(2 / 11)
    assert (last.text, last.has_vector, last.scores.cosine) == ("Quinn knows.", False, None)
    scores = [fact.scores for fact in explanation.facts] + [fact.scores for fact in explanation.left_out]
    fused = [one.fused for one in scores if one.fused]
    assert fused == sorted(fused, reverse=True)
    assert {fact.reason for fact in explanation.left_out} == {"top_k"}
    assert len(explanation.facts) + len(explanation.left_out) == 5
    assert explanation.owner is not None
    assert (explanation.owner.facts, explanation.owner.candidates) == (5, 5)


def test_words_are_not_asked_where_all_facts_are_used(runtime: Runtime, tenant: Tenant, key: str) -> None:
    add_facts(tenant, *TEXTS)
    explanation = explain(runtime, key, memory={"user_id": "alice"})
    assert (explanation.ranked_by, explanation.left_out) == ("vectors", ())
    assert explanation.facts[0].text == TEXTS[0]
    assert explain(runtime, key, user="alice", messages=[{"role": "user", "content": " "}]).ranked_by == "age"


def test_what_is_below_the_threshold_is_left_out_of_chats_and_told(runtime: Runtime, tenant: Tenant, key: str) -> None:
    add_facts(tenant, *TEXTS)
    memory = {"user_id": "alice", "threshold": 0.3}
    explanation = explain(runtime, key, memory=memory)
    assert {fact.text for fact in explanation.facts} == set(facts_in(ask(runtime, key, memory=memory)))
    assert TEXTS[3] in {fact.text for fact in explanation.left_out if fact.reason == "threshold"}
    for fact in explanation.left_out:
        assert fact.scores.cosine is not None
        assert fact.scores.cosine < 0.3


def test_facts_that_do_not_fit_and_repeated_lines_are_told(runtime: Runtime, tenant: Tenant, key: str) -> None:
    add_facts(tenant, "Alice likes tea.")
    add_facts(tenant, "Alice likes tea.", scopes=Scopes(user_id="alice", agent_id="cook"))
    add_facts(tenant, *(f"On day {day} a long letter about the weather in the north arrived." for day in range(30)))
    runtime.max_model_len = 400
    explanation = explain(runtime, key, memory={"user_id": "alice"}, max_tokens=10)
    reasons = [fact.reason for fact in explanation.left_out]
    assert reasons.count("repeat") == 1
    assert reasons.count("length") == 31 - len(explanation.facts) > 0
    assert explanation.prompt.tokens is not None
    assert explanation.prompt.tokens <= explanation.prompt.room == 390


def test_every_reason_for_text_is_told(runtime: Runtime, tenant: Tenant, key: str) -> None:
    facts = add_facts(tenant, *TEXTS)
    make_ready(runtime, *facts[:3])

    def reasons(**memory: Any) -> set[str | None]:
        runtime.snapshots.clear()
        return {fact.reason for fact in explain(runtime, key, memory={"user_id": "alice", **memory}).facts}

    assert reasons() == {None, "kv"}
    assert reasons(mode="prompt") == {"mode", "kv"}
    Tenant.objects.filter(pk=tenant.pk).update(strategy=f"{tenant.strategy}+tail(2)")
    assert reasons() == {None, "kv", "tail"}
    Tenant.objects.filter(pk=tenant.pk).update(strategy=tenant.strategy)
    runtime.golden = "failed"
    assert reasons() == {"golden", "kv"}
    runtime.golden = "passed"
    Encoding.objects.filter(fact=facts[0]).update(digest="0" * 32)
    assert "tokens" in reasons()
    assert runtime.mismatched_segments == 0
    Encoding.objects.filter(fact=None).delete()
    assert reasons() == {"header", "kv"}


def test_it_leaves_no_session_behind(runtime: Runtime, tenant: Tenant, key: str) -> None:
    add_facts(tenant, *TEXTS)
    memory = {"user_id": "alice", "session_id": "s"}
    assert [explain(runtime, key, memory=memory).session for _ in range(2)] == ["new", "new"]
    ask(runtime, key, memory=memory)
    assert explain(runtime, key, memory=memory).session == "kept"


def test_another_tenants_user_is_nobody(runtime: Runtime, people: People, tenant: Tenant, key: str) -> None:
    with tenant_scope(people.other_tenant):
        add_facts(people.other_tenant, "Carol likes rum.", scopes=Scopes(user_id="carol"))
    explanation = explain(runtime, key, user="carol")
    assert (explanation.owner, explanation.facts, explanation.left_out, explanation.mode) == (None, (), (), "none")
    assert "rum" not in prompt_of(explanation)
    assert [part.kind for part in explanation.prompt.parts][-2:] == ["question", "template"]


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({}, "memory"),
        ({"memory": {"user_id": "alice", "mode": "off"}}, "memory"),
        ({"memory": {"user_id": "alice", "top_k": 0}}, "memory.top_k"),
        ({"memory": {"user_id": "alice", "threshold": 2}}, "memory.threshold"),
        ({"memory": {"user_id": "alice", "threshold": "high"}}, "memory.threshold"),
        ({"memory": {"user_id": "alice", "threshold": True}}, "memory.threshold"),
        ({"user": "alice", "messages": []}, "messages"),
    ],
)
def test_bad_input_is_named(runtime: Runtime, key: str, body: dict[str, Any], param: str) -> None:
    with pytest.raises(ApiError) as caught:
        explain(runtime, key, **body)
    assert (caught.value.status, caught.value.param) == (400, param)


def test_it_needs_the_scope_of_chats(runtime: Runtime, tenant: Tenant) -> None:
    with pytest.raises(ApiError) as caught:
        explain(runtime, chat_key_of(tenant, scopes=[KeyScope.READ]), user="alice")
    assert caught.value.status == 403
