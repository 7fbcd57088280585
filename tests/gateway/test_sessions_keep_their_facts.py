"""A conversation keeps the facts it began with; what is found later joins before the question that found it."""

from dataclasses import dataclass, field
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
import redis
from django.utils import timezone
from facts.models import Fact
from facts.scopes import Scopes
from facts.services import fact_delete, fact_update
from tenants.models import Tenant
from tenants.scope import tenant_scope

from inference.gateway.errors import ApiError
from inference.gateway.plan import Plan
from inference.gateway.runtime import Runtime
from memory.prompt.block import LATER_HEADER, MEMORY_HEADER
from tests.factories import People, add_facts
from tests.gateway.helpers import ask, chat_key_of, facts_in, injected_keys, make_ready

TEXTS = ("Bob lives in Lisbon.", "Carla paints boats.", "Bob has a dog.", "Dora sings.", "Emil fishes.", "Fay rows.")
NEW = "Gus has a parrot."


@dataclass
class Talk:
    """A client that sends the growing list of messages."""

    runtime: Runtime
    key: str
    memory: dict[str, Any] = field(default_factory=lambda: {"user_id": "alice"})
    messages: list[dict[str, Any]] = field(default_factory=list)

    def say(self, text: str, answer: str = "I see.", **memory: Any) -> Plan:
        self.messages.append({"role": "user", "content": text})
        plan = self.again(**memory)
        self.messages.append({"role": "assistant", "content": answer})
        return plan

    def again(self, **memory: Any) -> Plan:
        """The same chat once more."""
        return ask(self.runtime, self.key, messages=self.messages, memory={**self.memory, **memory})


@pytest.fixture
def facts(tenant: Tenant) -> list[Fact]:
    return add_facts(tenant, *TEXTS)


@pytest.fixture
def talk(runtime: Runtime, tenant: Tenant, facts: list[Fact], broker: redis.Redis) -> Talk:
    return Talk(runtime, chat_key_of(tenant))


def block(plan: Plan) -> str:
    first = plan.body["messages"][0]["content"]
    assert first.startswith(MEMORY_HEADER)
    return str(first)


def later(plan: Plan) -> list[str]:
    """What stands in the messages behind the block."""
    return [message["content"] for message in plan.body["messages"][1:]]


def ids(runtime: Runtime, plan: Plan) -> list[int]:
    return runtime.template.token_ids(runtime.template.render(plan.body["messages"]))


def test_other_questions_leave_the_block_as_it_was(talk: Talk) -> None:
    first = talk.say("Where does Bob live?", top_k=3)
    second = talk.say("Does Bob have a dog?", top_k=3)
    assert (first.session, second.session) == ("new", "kept")
    assert block(second) == block(first)


def test_what_a_question_finds_beyond_it_joins_before_that_question_and_stays(talk: Talk, tenant: Tenant) -> None:
    first = talk.say("Where does Bob live?")
    add_facts(tenant, NEW)
    second = talk.say("Who has a parrot?")
    third = talk.say("And a dog?")
    assert block(first) == block(second) == block(third)
    joined = f"{LATER_HEADER}- {NEW}\nEnd of memories.\n\nWho has a parrot?"
    assert later(second) == ["Where does Bob live?", "I see.", joined]
    assert later(third) == [*later(second), "I see.", "And a dog?"]
    assert (first.facts, second.facts, third.facts) == (6, 7, 7)


def test_each_turns_prompt_begins_with_the_one_before(talk: Talk, runtime: Runtime, tenant: Tenant) -> None:
    prompts = [ids(runtime, talk.say("Where does Bob live?"))]
    add_facts(tenant, NEW)
    prompts.append(ids(runtime, talk.say("Who has a parrot?")))
    prompts.append(ids(runtime, talk.say("And a dog?")))
    for shorter, longer in pairwise(prompts):
        assert longer[: len(shorter)] == shorter


def test_both_modes_send_the_same_tokens(talk: Talk, runtime: Runtime, tenant: Tenant, facts: list[Fact]) -> None:
    make_ready(runtime, *facts[:4])
    for text in ("Where does Bob live?", "Who has a parrot?", "And a dog?"):
        auto = talk.say(text, mode="auto")
        talk.messages.pop()
        prompt = talk.again(mode="prompt")
        talk.messages.append({"role": "assistant", "content": "I see."})
        assert (auto.mode, prompt.mode) == ("inject", "prompt")
        assert auto.body["messages"] == prompt.body["messages"]
        assert auto.body["kv_transfer_params"]["prompt_token_ids"] == ids(runtime, prompt)
        add_facts(tenant, NEW)


def test_what_is_injected_stays_and_grows(talk: Talk, runtime: Runtime, facts: list[Fact]) -> None:
    make_ready(runtime, *facts[:3])
    first = talk.say("Where does Bob live?")
    make_ready(runtime, *facts[3:])
    second = talk.say("Who sings?")
    assert block(second) == block(first)
    assert injected_keys(second)[: len(injected_keys(first))] == injected_keys(first)
    assert len(injected_keys(second)) == 7


def test_a_turn_sent_again_is_the_same_prompt(talk: Talk, tenant: Tenant) -> None:
    talk.say("Where does Bob live?")
    add_facts(tenant, NEW)
    second = talk.say("Who has a parrot?")
    talk.messages.pop()
    again = talk.again()
    assert (again.session, again.body["messages"]) == ("kept", second.body["messages"])


def test_when_many_have_joined_the_session_begins_anew(talk: Talk, tenant: Tenant) -> None:
    talk.say("Where does Bob live?")
    numbers = [f"Gate {i} opens at {i}." for i in range(4)]
    add_facts(tenant, *numbers)
    plan = talk.say("When does gate 3 open?")
    assert (plan.session, LATER_HEADER in str(later(plan))) == ("new", False)
    assert set(facts_in(plan)) == {*TEXTS, *numbers}
    assert talk.say("And gate 2?").session == "kept"


def change(*, fact: Fact) -> None:
    fact_update(fact=fact, text="Emil hunts.")


@pytest.mark.parametrize("spoil", [fact_delete, change])
def test_a_fact_that_is_gone_or_changed_is_in_no_later_prompt(talk: Talk, facts: list[Fact], spoil: Any) -> None:
    talk.say("Where does Bob live?")
    spoil(fact=facts[4])
    plan = talk.say("Who fishes?")
    assert "Emil fishes." not in str(plan.body["messages"])
    assert plan.session == "new"


def test_a_late_fact_that_is_deleted_is_in_no_later_prompt(talk: Talk, tenant: Tenant) -> None:
    talk.say("Where does Bob live?")
    (parrot,) = add_facts(tenant, NEW)
    talk.say("Who has a parrot?")
    fact_delete(fact=parrot)
    plan = talk.say("Who has one?")
    assert (plan.session, NEW in str(plan.body["messages"])) == ("new", False)


def test_an_expired_fact_ends_the_session(talk: Talk, facts: list[Fact], monkeypatch: pytest.MonkeyPatch) -> None:
    now = timezone.now()
    fact_update(fact=facts[4], expires_at=now + timedelta(hours=1))
    first = talk.say("Where does Bob live?")
    monkeypatch.setattr(timezone, "now", lambda: now + timedelta(hours=2))
    plan = talk.say("Who fishes?")
    assert ("Emil fishes." in facts_in(first), "Emil fishes." in facts_in(plan)) == (True, False)
    assert plan.session == "new"


def test_without_its_state_a_session_begins_anew(talk: Talk, broker: redis.Redis) -> None:
    talk.say("Where does Bob live?")
    broker.flushdb()
    assert [talk.say("Who sings?").session, talk.say("Who rows?").session] == ["new", "kept"]


@pytest.mark.parametrize("memory", [{"top_k": 4}, {"filters": {"created_at": {"gt": "2020-01-01T00:00:00Z"}}}])
def test_another_choice_of_facts_is_another_session(talk: Talk, memory: dict[str, Any]) -> None:
    talk.say("Where does Bob live?")
    assert talk.say("Who sings?", **memory).session == "new"
    assert talk.say("Who rows?").session == "kept"


def test_another_strategy_begins_anew(talk: Talk, tenant: Tenant) -> None:
    talk.say("Where does Bob live?")
    Tenant.objects.filter(pk=tenant.pk).update(strategy="window(4)")
    assert talk.say("Who sings?").session == "new"


def test_a_random_order_keeps_nothing(talk: Talk) -> None:
    plans = [talk.say("Where does Bob live?", order="random"), talk.say("Who sings?", order="random")]
    assert [plan.session for plan in plans] == [None, None]


@pytest.mark.parametrize("name", ["session_id", "run_id"])
def test_a_named_session_needs_no_history(runtime: Runtime, tenant: Tenant, broker: redis.Redis, name: str) -> None:
    add_facts(tenant, *TEXTS, scopes=Scopes(user_id="alice", run_id="r"))
    key, memory = chat_key_of(tenant), {"user_id": "alice", name: "r", "top_k": 3}
    first = ask(runtime, key, memory=memory)
    second = ask(runtime, key, memory=memory, messages=[{"role": "user", "content": "Where does Bob live? Where?"}])
    assert (first.session, second.session, block(second)) == ("new", "kept", block(first))
    other = ask(runtime, key, memory={**memory, name: "s"})
    assert other.session != "kept"


def test_conversations_that_begin_alike_are_not_one(talk: Talk, tenant: Tenant) -> None:
    talk.say("Hello!", top_k=2)
    add_facts(tenant, NEW)
    other = Talk(talk.runtime, talk.key)
    assert other.say("Hello!", top_k=2).session == "new"


def test_nobody_elses_session_is_met(runtime: Runtime, people: People, tenant: Tenant, broker: redis.Redis) -> None:
    add_facts(tenant, *TEXTS)
    named = {"user_id": "alice", "session_id": "s"}
    key = chat_key_of(tenant)
    ask(runtime, key, memory=named)
    assert ask(runtime, key, memory={**named, "agent_id": "a"}).session is None
    assert ask(runtime, key, memory={"user_id": "bob", "session_id": "s"}).session is None
    with tenant_scope(people.other_tenant):
        add_facts(people.other_tenant, NEW)
        theirs = ask(runtime, chat_key_of(people.other_tenant), memory=named)
    assert (theirs.session, facts_in(theirs)) == ("new", [NEW])


def test_what_the_client_cut_off_takes_its_facts_with_it(talk: Talk, tenant: Tenant) -> None:
    first = talk.say("Where does Bob live?", session_id="s")
    add_facts(tenant, NEW)
    talk.say("Who has a parrot?", session_id="s")
    talk.messages = talk.messages[2:]
    moved = talk.say("And a dog?", session_id="s")
    assert (moved.session, block(moved)) == ("kept", block(first))
    assert later(moved)[-1].startswith(f"{LATER_HEADER}- {NEW}\n")
    assert str(moved.body["messages"]).count(NEW) == 1


def test_a_tools_result_leaves_the_facts_where_they_are(talk: Talk, tenant: Tenant) -> None:
    talk.say("Where does Bob live?")
    add_facts(tenant, NEW)
    second = talk.say("Who has a parrot?")
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    talk.messages[-1] = {"role": "assistant", "content": None, "tool_calls": [call]}
    talk.messages.append({"role": "tool", "tool_call_id": "c", "content": "42"})
    plan = talk.again()
    assert plan.session == "kept"
    assert plan.body["messages"][: len(second.body["messages"])] == second.body["messages"]


def test_a_conversation_that_outgrows_the_model_begins_anew_with_room_to_spare(talk: Talk, runtime: Runtime) -> None:
    runtime.max_model_len = 260
    sessions, counts = [], []
    for i in range(8):
        plan = ask_short(talk, f"Question {i}: where does Bob live now?")
        assert plan.prompt_tokens is None or plan.prompt_tokens + 16 <= 260
        sessions.append(plan.session)
        counts.append(plan.facts)
    assert counts == sorted(counts, reverse=True)
    assert counts[-1] < counts[0]
    assert 1 < sessions.count("new") < 8


def ask_short(talk: Talk, text: str) -> Plan:
    talk.messages.append({"role": "user", "content": text})
    plan = ask(talk.runtime, talk.key, messages=talk.messages, memory=talk.memory, max_tokens=16)
    talk.messages.append({"role": "assistant", "content": "I see."})
    return plan


def test_a_template_without_system_role_joins_facts_to_the_message(runtime: Runtime) -> None:
    message = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:"}}]}
    joined = runtime.template.join(message, ["- a\n"])
    assert joined["content"][0] == {"type": "text", "text": f"{LATER_HEADER}- a\nEnd of memories.\n\n"}
    assert joined["content"][1:] == message["content"]


@pytest.mark.parametrize("name", [7, " ", "a\x00", "x" * 256, ["s"]])
def test_a_session_needs_a_name(talk: Talk, name: object) -> None:
    with pytest.raises(ApiError) as caught:
        talk.say("Hello!", session_id=name)
    assert (caught.value.status, caught.value.param) == (400, "memory.session_id")
