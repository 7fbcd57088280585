from typing import Any

import pytest
from facts.errors import InvalidInputError
from facts.models import Event, Fact, Owner, Turn
from facts.scopes import Scopes
from facts.services import Message, fact_update, facts_add
from tenants.models import Tenant

from tests.factories import ALICE, add_facts

EMPTY = ["", "   ", "\n\t\u00a0\u2003", None, "\x00\x00", "\u200b\ufeff", "\x1b\x07"]


def nothing_is_stored() -> bool:
    return not any(model.objects.exists() for model in (Fact, Turn, Owner, Event))


@pytest.mark.parametrize("content", EMPTY)
def test_text_without_content_is_refused(tenant: Tenant, content: str | None) -> None:
    with pytest.raises(InvalidInputError, match=r"messages\[1\]\.content must contain text"):
        facts_add(tenant=tenant, scopes=ALICE, messages=[Message("user", "fine"), Message("user", content)])
    assert nothing_is_stored()


@pytest.mark.parametrize("size", [32 * 1024 + 1, 1 << 20])
def test_text_beyond_the_limit_is_refused_with_the_limit_named(tenant: Tenant, size: int) -> None:
    with pytest.raises(InvalidInputError, match="at most 32 KB"):
        facts_add(tenant=tenant, scopes=ALICE, messages=[Message("user", "a" * size)])
    assert nothing_is_stored()


def test_the_limit_counts_bytes(tenant: Tenant) -> None:
    with pytest.raises(InvalidInputError, match="at most 32 KB"):
        facts_add(tenant=tenant, scopes=ALICE, messages=[Message("user", "ü" * 20_000)])
    assert len(add_facts(tenant, "a" * 32 * 1024)[0].text) == 32 * 1024


@pytest.mark.parametrize(
    ("given", "stored"),
    [
        ("tea\x00 and\x07 milk", "tea and milk"),
        (" tea\r\n\r\nand\u2028milk\u3000", "tea and milk"),
        ("tea \ud800and milk", "tea and milk"),
        ("\u202etea", "tea"),
    ],
)
def test_control_characters_and_whitespace_are_cleaned(tenant: Tenant, given: str, stored: str) -> None:
    fact = add_facts(tenant, given)[0]
    fact.refresh_from_db()
    assert fact.text == stored


def test_a_bad_update_changes_nothing(tenant: Tenant) -> None:
    fact = add_facts(tenant, "Likes tea.")[0]
    for text in (" ", "\x00", "a" * (1 << 20)):
        with pytest.raises(InvalidInputError):
            fact_update(fact=fact, text=text)
    with pytest.raises(InvalidInputError, match="to change"):
        fact_update(fact=fact)
    fact.refresh_from_db()
    assert (fact.text, fact.seq) == ("Likes tea.", 1)


@pytest.mark.parametrize(
    "metadata",
    [
        {"a": "\x00"},
        {"\x00": 1},
        {"a": float("nan")},
        {"a": float("inf")},
        {"a": "\ud800"},
        {"a": "b" * 40_000},
        {"a": {1, 2}},
        ["not", "an", "object"],
    ],
)
def test_metadata_that_cannot_be_stored_is_refused(tenant: Tenant, metadata: Any) -> None:
    with pytest.raises(InvalidInputError, match="metadata must"):
        facts_add(tenant=tenant, scopes=ALICE, messages=[Message("user", "fine")], metadata=metadata)
    assert nothing_is_stored()


@pytest.mark.parametrize("name", ["   ", "a\x00b", "a\nb", "a" * 256, "\ud800", 7])
def test_a_scope_that_cannot_be_a_name_is_refused(name: Any) -> None:
    with pytest.raises(ValueError, match="user_id must"):
        Scopes(user_id=name)


def test_a_memory_without_any_scope_is_refused(tenant: Tenant) -> None:
    with pytest.raises(ValueError, match="at least one of user_id, agent_id, app_id, run_id"):
        facts_add(tenant=tenant, scopes=Scopes(), messages=[Message("user", "fine")])
    assert nothing_is_stored()


@pytest.mark.parametrize("count", [0, 1001])
def test_too_few_and_too_many_messages_are_refused(tenant: Tenant, count: int) -> None:
    with pytest.raises(InvalidInputError, match="1 to 1000"):
        facts_add(tenant=tenant, scopes=ALICE, messages=[Message("user", "fine")] * count)
    assert nothing_is_stored()
