"""A chat with memory: the facts are in the prompt; those with KV stand first and are injected."""

from facts.services import fact_delete
from tenants.models import Tenant

from inference.gateway.runtime import Runtime
from memory.prompt import MEMORY_HEADER
from tests.factories import People, add_facts
from tests.gateway.helpers import ask, chat_key_of, facts_in, injected_keys, injected_segments, make_ready, prompt_text

TEXTS = ("Bob lives in Lisbon.", "Carla paints boats.", "Bob has a dog.")


def test_a_fact_stored_a_moment_ago_is_in_the_prompt(runtime: Runtime, tenant: Tenant) -> None:
    add_facts(tenant, *TEXTS)
    plan = ask(runtime, chat_key_of(tenant), user="alice")
    assert set(facts_in(plan)) == set(TEXTS)
    assert prompt_text(plan).startswith(MEMORY_HEADER)
    assert (plan.mode, plan.facts, injected_keys(plan)) == ("prompt", 3, [])


def test_facts_with_kv_stand_first_and_are_injected_behind_the_header(runtime: Runtime, tenant: Tenant) -> None:
    facts = add_facts(tenant, *TEXTS)
    header, boats, dog = make_ready(runtime, facts[1], facts[2])
    plan = ask(runtime, chat_key_of(tenant), user="alice")
    assert facts_in(plan)[-1] == TEXTS[0]
    assert plan.mode == "inject"
    assert injected_keys(plan)[0] == header
    assert set(injected_keys(plan)[1:]) == {boats, dog}
    assert plan.tokens_injected == sum(segment.tokens for segment in injected_segments(plan)) > 0


def test_a_strategys_tail_is_sent_as_text(runtime: Runtime, tenant: Tenant) -> None:
    make_ready(runtime, *add_facts(tenant, *TEXTS))
    key = chat_key_of(tenant)
    whole = ask(runtime, key, user="alice")
    Tenant.objects.filter(pk=tenant.pk).update(strategy=f"{tenant.strategy}+tail(1)")
    plan = ask(runtime, key, user="alice")
    assert plan.body["messages"] == whole.body["messages"]
    assert injected_keys(plan) == injected_keys(whole)[:-1]
    assert plan.tokens_injected < whole.tokens_injected
    Tenant.objects.filter(pk=tenant.pk).update(strategy=f"{tenant.strategy}+tail(9)")
    assert ask(runtime, key, user="alice").mode == "prompt"


def test_without_the_header_nothing_is_injected(runtime: Runtime, tenant: Tenant) -> None:
    from facts.models import Encoding

    facts = add_facts(tenant, *TEXTS)
    make_ready(runtime, *facts)
    Encoding.objects.filter(fact=None).delete()
    plan = ask(runtime, chat_key_of(tenant), user="alice")
    assert (plan.mode, injected_keys(plan)) == ("prompt", [])


def test_kv_of_other_tokens_is_sent_as_text_and_counted(runtime: Runtime, tenant: Tenant) -> None:
    from facts.models import Encoding

    facts = add_facts(tenant, *TEXTS)
    make_ready(runtime, *facts)
    first = ask(runtime, chat_key_of(tenant), user="alice")
    Encoding.objects.filter(key=injected_keys(first)[2]).update(digest="0" * 32)
    runtime.snapshots.clear()
    plan = ask(runtime, chat_key_of(tenant), user="alice")
    assert injected_keys(plan) == injected_keys(first)[:2]
    assert plan.body["messages"] == first.body["messages"]
    assert runtime.mismatched_segments == 2


def test_prompt_mode_sends_the_same_text_without_injection(runtime: Runtime, tenant: Tenant) -> None:
    facts = add_facts(tenant, *TEXTS)
    make_ready(runtime, facts[0])
    key = chat_key_of(tenant)
    inject = ask(runtime, key, memory={"user_id": "alice"})
    prompt = ask(runtime, key, memory={"user_id": "alice", "mode": "prompt"})
    assert prompt.body["messages"] == inject.body["messages"]
    assert "kv_transfer_params" not in prompt.body
    assert prompt.body["cache_salt"] != inject.body["cache_salt"]


def test_before_the_golden_check_has_passed_nothing_is_injected(runtime: Runtime, tenant: Tenant) -> None:
    make_ready(runtime, *add_facts(tenant, *TEXTS))
    for state in ("pending", "failed"):
        runtime.golden = state
        assert ask(runtime, chat_key_of(tenant), user="alice").mode == "prompt"


def test_a_deleted_fact_is_in_no_later_prompt(runtime: Runtime, tenant: Tenant) -> None:
    facts = add_facts(tenant, *TEXTS)
    make_ready(runtime, *facts)
    key = chat_key_of(tenant)
    before = ask(runtime, key, user="alice")
    fact_delete(fact=facts[0], actor="")
    after = ask(runtime, key, user="alice")
    assert TEXTS[0] not in prompt_text(after)
    assert after.body["cache_salt"] != before.body["cache_salt"]


def test_an_addition_keeps_the_salt(runtime: Runtime, tenant: Tenant) -> None:
    add_facts(tenant, TEXTS[0])
    key = chat_key_of(tenant)
    before = ask(runtime, key, user="alice")
    add_facts(tenant, TEXTS[1])
    assert ask(runtime, key, user="alice").body["cache_salt"] == before.body["cache_salt"]


def test_filters_and_top_k_narrow_the_facts(runtime: Runtime, tenant: Tenant) -> None:
    add_facts(tenant, *TEXTS)
    key = chat_key_of(tenant)
    filtered = ask(runtime, key, memory={"user_id": "alice", "filters": {"text": {"contains": "Carla"}}})
    limited = ask(runtime, key, memory={"user_id": "alice", "top_k": 1})
    assert facts_in(filtered) == [TEXTS[1]]
    assert facts_in(limited) == [TEXTS[0]]


def test_the_applications_prompt_and_history_follow(runtime: Runtime, tenant: Tenant) -> None:
    add_facts(tenant, TEXTS[0])
    chat = [
        {"role": "system", "content": "Answer in French."},
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": "Bonjour"},
        {"role": "user", "content": "Where does Bob live?"},
    ]
    plan = ask(runtime, chat_key_of(tenant), user="alice", messages=chat)
    assert plan.body["messages"][1:] == chat[1:]
    assert plan.body["messages"][0]["content"].endswith("End of memories.\n\nAnswer in French.")


def test_another_tenant_with_the_same_user_shares_nothing(runtime: Runtime, people: People, tenant: Tenant) -> None:
    from tenants.scope import tenant_scope

    make_ready(runtime, *add_facts(tenant, *TEXTS))
    mine = ask(runtime, chat_key_of(tenant), user="alice")
    with tenant_scope(people.other_tenant):
        add_facts(people.other_tenant, TEXTS[0])
        theirs = ask(runtime, chat_key_of(people.other_tenant), user="alice")
    assert facts_in(theirs) == [TEXTS[0]]
    assert injected_keys(theirs) == []
    assert theirs.body["cache_salt"] != mine.body["cache_salt"]


def test_a_random_order_holds_the_same_facts(runtime: Runtime, tenant: Tenant) -> None:
    add_facts(tenant, *(f"Bob's number {i} is {i * 7}." for i in range(12)))
    key = chat_key_of(tenant)
    orders = [facts_in(ask(runtime, key, memory={"user_id": "alice", "order": "random"})) for _ in range(4)]
    assert len({tuple(order) for order in orders}) > 1
    assert len({frozenset(order) for order in orders}) == 1


def test_the_engine_is_told_the_tokens_that_are_injected_into(runtime: Runtime, tenant: Tenant) -> None:
    make_ready(runtime, *add_facts(tenant, *TEXTS))
    key = chat_key_of(tenant)
    plan = ask(runtime, key, user="alice")
    ids = plan.body["kv_transfer_params"]["prompt_token_ids"]
    assert runtime.template.tokenizer.decode(ids).count(TEXTS[1]) == 1
    assert sum(segment.tokens for segment in injected_segments(plan)) < len(ids)


def test_a_chat_whose_rendering_depends_on_more_is_rendered_by_the_engine(runtime: Runtime, tenant: Tenant) -> None:
    make_ready(runtime, *add_facts(tenant, *TEXTS))
    plan = ask(runtime, chat_key_of(tenant), user="alice", chat_template_kwargs={"tone": "warm"})
    assert "prompt_token_ids" not in plan.body["kv_transfer_params"]
