"""A tenant stores as many facts as its quota allows, whoever stores them; others are not held up."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections
from facts.errors import QuotaExceededError
from facts.models import Event, Extraction, Fact, Turn
from facts.scopes import Scopes
from facts.selectors import facts_count
from facts.services import (
    AddResult,
    FoundFact,
    Message,
    extraction_request,
    extraction_start,
    fact_delete,
    facts_add,
    facts_remember,
)
from tenants.models import Tenant
from tenants.scope import tenant_scope
from tenants.services import quota_set, tenant_create

from tests.factories import ALICE, People, add_facts


def limit(tenant: Tenant, facts: int | None) -> Tenant:
    quota_set(tenant=tenant, limits={"facts": facts}, actor="test")
    return Tenant.objects.get(pk=tenant.pk)  # as the next request has it


def test_what_exceeds_it_is_refused_whole(people: People, tenant: Tenant) -> None:
    limited = limit(tenant, 3)
    add_facts(limited, "Bob has a dog.", "Bob has a cat.")
    with pytest.raises(QuotaExceededError, match="quota of 3 memories"):
        add_facts(limited, "Ann has a parrot.", "Ann has a fish.", scopes=Scopes(user_id="ann"))
    assert (facts_count(tenant=tenant), Turn.objects.count(), Event.objects.count()) == (2, 2, 1)
    add_facts(limited, "Ann has a parrot.", scopes=Scopes(user_id="ann"))
    with tenant_scope(people.other_tenant):
        add_facts(people.other_tenant, "Carla paints boats.", "Carla fishes.", "Carla reads.", "Carla sings.")


def test_room_that_a_deletion_makes_is_used_and_no_limit_is_none(tenant: Tenant) -> None:
    limited = limit(tenant, 1)
    (fact,) = add_facts(limited, "Bob has a dog.")
    with pytest.raises(QuotaExceededError):
        add_facts(limited, "Bob has a cat.")
    fact_delete(fact=fact, actor="test")
    add_facts(limited, "Bob has a cat.")
    add_facts(limit(tenant, None), "Bob has a horse.")
    assert facts_count(tenant=tenant) == 2


def test_a_conversation_is_not_taken_where_there_is_no_room(tenant: Tenant) -> None:
    limited = limit(tenant, 1)
    add_facts(limited, "Bob has a dog.")
    with pytest.raises(QuotaExceededError):
        extraction_request(tenant=limited, scopes=ALICE, messages=[Message("user", "I have a cat.")])
    assert Extraction.objects.count() == 0


def test_what_was_found_is_stored_where_it_takes_the_place_of_others(tenant: Tenant) -> None:
    limited = limit(tenant, 2)
    add_facts(limited, "Alice lives in Berlin.")

    def found(said: str, *texts: str) -> None:
        event = extraction_request(tenant=limited, scopes=ALICE, messages=[Message("user", said)])
        extraction = extraction_start(tenant=limited, event_id=event.pk)
        assert extraction is not None
        turn = Turn.objects.get(event=event)
        facts = [FoundFact(text, turn.pk, turn.occurred_at) for text in texts]
        facts_remember(extraction=extraction, found=facts)

    with pytest.raises(QuotaExceededError):
        found("I have a cat and a dog.", "Alice has a cat.", "Alice has a dog.")
    found("I moved to Paris.", "Alice lives in Paris.")
    assert list(Fact.objects.filter(status="active").values_list("text", flat=True)) == ["Alice lives in Paris."]


@pytest.mark.django_db(transaction=True)
def test_parallel_adds_do_not_exceed_it_together() -> None:
    tenant = limit(tenant_create(name="Home"), 5)

    def add(number: int) -> AddResult | None:
        try:
            said = [Message("user", f"Fact number {number}.")]
            return facts_add(tenant=tenant, scopes=Scopes(user_id=f"user-{number}"), messages=said)
        except QuotaExceededError:
            return None
        finally:
            connections.close_all()

    with ThreadPoolExecutor(8) as pool:
        added = [result for result in pool.map(add, range(16)) if result]
    assert len(added) == facts_count(tenant=tenant) == 5
