"""change_seq and erasure_epoch move in the transaction of the change."""

import pytest
from django.db import transaction
from facts.models import Fact, Owner
from facts.selectors import OwnerState, owner_state
from facts.services import fact_delete, fact_update
from tenants.models import Tenant

from tests.factories import add_facts, encode_fact


def state() -> OwnerState:
    return owner_state(Owner.objects.get().pk)


def test_an_add_moves_the_sequence_and_not_the_epoch(tenant: Tenant) -> None:
    facts = add_facts(tenant, "one", "two")
    assert state() == (2, 0)
    assert [fact.seq for fact in facts] == [1, 2]


def test_an_add_of_known_facts_moves_nothing(tenant: Tenant) -> None:
    add_facts(tenant, "one")
    add_facts(tenant, "one")
    assert state() == (1, 0)


def test_an_update_moves_both(tenant: Tenant) -> None:
    fact = add_facts(tenant, "one")[0]
    assert fact_update(fact=fact, text="two").seq == 2
    assert state() == (2, 1)


def test_an_update_that_changes_nothing_moves_nothing(tenant: Tenant) -> None:
    fact = add_facts(tenant, "one")[0]
    fact_update(fact=fact, text=" one ", metadata={})
    assert state() == (1, 0)


def test_a_deletion_moves_both(tenant: Tenant) -> None:
    fact = add_facts(tenant, "one")[0]
    fact_delete(fact=fact)
    assert state() == (2, 1)
    fact.refresh_from_db()
    assert fact.seq == 2


def test_an_encoding_that_becomes_ready_moves_the_sequence(tenant: Tenant) -> None:
    fact = add_facts(tenant, "one")[0]
    encode_fact(fact)
    assert state() == (2, 0)


@pytest.mark.parametrize("change", ["update", "delete"])
def test_a_rollback_leaves_fact_sequence_and_epoch(tenant: Tenant, change: str) -> None:
    fact = add_facts(tenant, "one")[0]
    encoding = encode_fact(fact)
    before = state()
    with transaction.atomic():
        if change == "update":
            fact_update(fact=fact, text="two")
        else:
            fact_delete(fact=fact)
        assert state() == (before.change_seq + 1, before.erasure_epoch + 1)
        transaction.set_rollback(True)
    assert state() == before
    fact.refresh_from_db()
    encoding.refresh_from_db()
    assert (fact.text, fact.status, encoding.state) == ("one", "active", "ready")


def test_a_rollback_of_an_add_leaves_no_owner(tenant: Tenant) -> None:
    with transaction.atomic():
        add_facts(tenant, "one")
        transaction.set_rollback(True)
    assert not Owner.objects.exists()
    assert not Fact.objects.exists()
