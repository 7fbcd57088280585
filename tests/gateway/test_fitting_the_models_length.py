"""When prompt and answer do not fit, the worst facts go first; the best stay."""

from tenants.models import Tenant

from inference.gateway.runtime import Runtime
from tests.factories import add_facts
from tests.gateway.helpers import ask, chat_key_of, facts_in, make_ready

COLOURS = ("red", "blue", "green")
FILLER = [f"The {colour} shop opens at nine and closes at six every day of the week." for colour in COLOURS]
HOME = "Bob lives in Lisbon."


def test_all_facts_stay_when_there_is_room(runtime: Runtime, tenant: Tenant) -> None:
    add_facts(tenant, HOME, *FILLER)
    assert ask(runtime, chat_key_of(tenant), user="alice", max_tokens=16).facts == 4


def test_the_worst_facts_go_until_prompt_and_answer_fit(runtime: Runtime, tenant: Tenant) -> None:
    add_facts(tenant, HOME, *FILLER)
    runtime.max_model_len = 120
    plan = ask(runtime, chat_key_of(tenant), user="alice", max_tokens=40)
    assert 0 < plan.facts < 4
    assert facts_in(plan)[-1] == HOME
    assert (plan.prompt_tokens or 0) + 40 <= 120


def test_the_worst_go_first_even_when_they_have_kv(runtime: Runtime, tenant: Tenant) -> None:
    facts = add_facts(tenant, HOME, *FILLER)
    make_ready(runtime, *facts[1:])
    runtime.max_model_len = 110
    plan = ask(runtime, chat_key_of(tenant), user="alice", max_tokens=40)
    assert HOME in facts_in(plan)
    assert plan.facts < 4


def test_when_no_fact_fits_the_chat_goes_on_without(runtime: Runtime, tenant: Tenant) -> None:
    add_facts(tenant, HOME)
    runtime.max_model_len = 60
    plan = ask(runtime, chat_key_of(tenant), user="alice", max_tokens=50)
    assert (plan.mode, plan.facts, len(plan.body["messages"])) == ("none", 0, 1)


def test_an_answer_of_unstated_length_gets_some_room(runtime: Runtime, tenant: Tenant) -> None:
    add_facts(tenant, HOME, *FILLER)
    runtime.max_model_len = 160
    plan = ask(runtime, chat_key_of(tenant), user="alice")
    assert (plan.prompt_tokens or 0) + 40 <= 160
