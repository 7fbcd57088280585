"""Memory is on when the body names a user, off when it says so or nobody is named."""

from typing import Any

import pytest
from tenants.models import Tenant

from inference.gateway.errors import ApiError
from inference.gateway.runtime import Runtime
from tests.factories import add_facts
from tests.gateway.helpers import ask, chat_key_of, facts_in


@pytest.fixture
def key(tenant: Tenant) -> str:
    add_facts(tenant, "Bob lives in Lisbon.")
    return chat_key_of(tenant)


def test_the_user_field_turns_it_on(runtime: Runtime, key: str) -> None:
    assert ask(runtime, key, user="alice").facts == 1


def test_a_key_may_say_that_the_user_field_does_not(runtime: Runtime, key: str, tenant: Tenant) -> None:
    strict = chat_key_of(tenant, user_field_enables_memory=False)
    assert ask(runtime, strict, user="alice").facts == 0
    assert ask(runtime, strict, memory={"user_id": "alice"}).facts == 1


def test_a_memory_object_takes_its_user_from_the_user_field(runtime: Runtime, key: str) -> None:
    assert ask(runtime, key, user="alice", memory={"top_k": 5}).facts == 1


@pytest.mark.parametrize("body", [{}, {"user": ""}, {"user": "alice", "memory": {"mode": "off"}}, {"user": "nobody"}])
def test_off_means_the_chat_passes_with_a_salt_only(runtime: Runtime, key: str, body: dict[str, Any]) -> None:
    plan = ask(runtime, key, **body)
    assert plan.mode == "none"
    assert facts_in(plan) == []
    assert plan.body["cache_salt"]
    assert "memory" not in plan.body


def test_each_user_has_a_salt_of_their_own_without_memory_too(runtime: Runtime, key: str) -> None:
    salts = {ask(runtime, key, memory={"mode": "off"}, user=user).body["cache_salt"] for user in ("alice", "bob", "")}
    assert len(salts) == 3


def test_a_plain_completion_gets_a_salt_and_no_memory(runtime: Runtime, key: str) -> None:
    plan = ask(runtime, key, is_chat=False, user="alice", prompt="Once")
    assert (plan.mode, facts_in(plan), bool(plan.body["cache_salt"])) == ("none", [], True)


@pytest.mark.parametrize(
    ("memory", "param"),
    [
        ("alice", "memory"),
        ({}, "memory.user_id"),
        ({"user_id": 7}, "memory.user_id"),
        ({"user_id": " "}, "memory.user_id"),
        ({"user_id": "a\x00"}, "memory.user_id"),
        ({"user_id": "x" * 256}, "memory.user_id"),
        ({"user_id": "alice", "top_k": 0}, "memory.top_k"),
        ({"user_id": "alice", "top_k": True}, "memory.top_k"),
        ({"user_id": "alice", "top_k": 1001}, "memory.top_k"),
        ({"user_id": "alice", "order": "best"}, "memory.order"),
        ({"user_id": "alice", "mode": "fast"}, "memory.mode"),
        ({"user_id": "alice", "filters": []}, "memory.filters"),
        ({"user_id": "alice", "filters": {"colour": "red"}}, "memory.filters"),
        ({"user_id": "alice", "team_id": "x"}, "memory.team_id"),
    ],
)
def test_bad_values_are_named(runtime: Runtime, key: str, memory: object, param: str) -> None:
    with pytest.raises(ApiError) as caught:
        ask(runtime, key, memory=memory)
    assert (caught.value.status, caught.value.param) == (400, param)


def test_a_user_that_is_no_name_is_refused(runtime: Runtime, key: str) -> None:
    with pytest.raises(ApiError) as caught:
        ask(runtime, key, user="a\nb")
    assert (caught.value.status, caught.value.param) == (400, "user")


@pytest.mark.parametrize("messages", [None, [], "hello", ["hello"]])
def test_messages_must_be_messages(runtime: Runtime, key: str, messages: object) -> None:
    with pytest.raises(ApiError) as caught:
        ask(runtime, key, user="alice", messages=messages)
    assert (caught.value.status, caught.value.param) == (400, "messages")
