"""When a fact was last injected, noted as requests are rolled up."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.utils import timezone
from facts.models import Fact
from tenants.models import Tenant
from tenants.scope import tenant_scope
from usage.rollup import roll_up
from usage.selectors import facts_injected_at
from usage.services import RequestRecordData, request_records_write

from tests.factories import People, add_facts

NOW = timezone.now().replace(second=0, microsecond=0)


@pytest.fixture
def facts(tenant: Tenant) -> list[Fact]:
    return add_facts(tenant, "Bob lives in Lisbon.", "Carla paints boats.", "Bob has a dog.")


def chat(tenant: Tenant, facts: list[Fact], injected: int, *, minutes_ago: int, **fields: Any) -> None:
    shared: dict[str, Any] = {"mode": "inject", "status": 200, "created_at": NOW - timedelta(minutes=minutes_ago)}
    ids = [fact.pk for fact in facts]
    data = RequestRecordData(tenant_id=tenant.pk, fact_ids=ids, facts_injected=injected, **{**shared, **fields})
    request_records_write([data])


def minutes_since(tenant: Tenant, facts: list[Fact]) -> list[int | None]:
    times = facts_injected_at(tenant=tenant, fact_ids=[fact.pk for fact in facts])
    ages = (times.get(fact.pk) for fact in facts)
    return [None if at is None else (NOW - at) // timedelta(minutes=1) for at in ages]


def test_the_first_facts_of_a_request_were_injected_and_the_others_not(tenant: Tenant, facts: list[Fact]) -> None:
    chat(tenant, facts, 2, minutes_ago=9)
    chat(tenant, facts[2:], 0, minutes_ago=8, mode="prompt")
    chat(tenant, facts[2:], 1, minutes_ago=7, status=500)
    assert minutes_since(tenant, facts) == [None, None, None]
    roll_up(now=NOW)
    assert minutes_since(tenant, facts) == [9, 9, None]


def test_a_note_moves_once_an_hour_and_never_back(tenant: Tenant, facts: list[Fact]) -> None:
    chat(tenant, facts[:1], 1, minutes_ago=200)
    roll_up(now=NOW - timedelta(minutes=190))
    chat(tenant, facts[:1], 1, minutes_ago=150)
    roll_up(now=NOW - timedelta(minutes=140))
    assert minutes_since(tenant, facts)[0] == 200
    chat(tenant, facts[:1], 1, minutes_ago=130)
    roll_up(now=NOW - timedelta(minutes=120))
    assert minutes_since(tenant, facts)[0] == 130
    roll_up(now=NOW, since=NOW - timedelta(hours=5))
    assert minutes_since(tenant, facts)[0] == 130


def test_neither_another_tenants_nor_an_erased_fact_is_noted(people: People, tenant: Tenant, facts: list[Fact]) -> None:
    with tenant_scope(people.other_tenant):
        (theirs,) = add_facts(people.other_tenant, "Carol likes rum.")
    unknown = Fact(pk=uuid4())
    chat(tenant, [facts[0], theirs, unknown], 3, minutes_ago=5)
    roll_up(now=NOW)
    assert minutes_since(tenant, [facts[0], theirs, unknown]) == [5, None, None]
    assert minutes_since(people.other_tenant, [facts[0], theirs]) == [None, None]
