from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone
from facts.models import Fact, FactHistory, Owner, Turn
from facts.scopes import Scopes
from facts.services import AddResult, Message, fact_delete, facts_add
from tenants.models import Tenant
from tenants.scope import every_tenant, tenant_scope

from tests.factories import ALICE, People, add_facts

PARALLEL = 20


@pytest.fixture
def shared_tenant(transactional_db: None, people: People) -> Tenant:
    """Committed, so that other connections see it."""
    return people.tenant


def test_of_many_parallel_equal_adds_one_fact_is_left(shared_tenant: Tenant) -> None:
    def add(_: int) -> AddResult:
        try:
            return facts_add(tenant=shared_tenant, scopes=ALICE, messages=[Message("user", "Alice keeps bees.")])
        finally:
            connection.close()

    with ThreadPoolExecutor(PARALLEL) as pool:
        results = list(pool.map(add, range(PARALLEL)))
    with tenant_scope(shared_tenant):
        fact = Fact.objects.get()
        assert (Owner.objects.count(), Turn.objects.count(), FactHistory.objects.count()) == (1, 1, 1)
        assert (Owner.objects.get().change_seq, fact.seq) == (1, 1)
    assert {result.facts[0].fact.pk for result in results} == {fact.pk}
    assert sorted(result.facts[0].event for result in results) == ["ADD"] + ["NONE"] * (PARALLEL - 1)


def test_the_database_itself_refuses_a_second_active_fact(tenant: Tenant) -> None:
    fact = add_facts(tenant, "Alice keeps bees.")[0]
    with pytest.raises(IntegrityError, match="active_fact_once"), transaction.atomic():
        Fact.objects.create(
            tenant=tenant, owner_id=fact.owner_id, user_id="alice", text=fact.text, hash=fact.hash, status="active"
        )


def test_texts_that_clean_to_the_same_are_one_fact(tenant: Tenant) -> None:
    first, second = add_facts(tenant, "Alice keeps bees.", "  Alice\tkeeps\n bees. ")
    assert first.pk == second.pk
    assert Fact.objects.count() == 1


def test_the_same_text_in_other_scopes_is_another_fact(tenant: Tenant, people: People) -> None:
    add_facts(tenant, "Likes tea.")
    add_facts(tenant, "Likes tea.", scopes=Scopes(user_id="alice", run_id="monday"))
    add_facts(tenant, "Likes tea.", scopes=Scopes(user_id="bob"))
    add_facts(people.other_tenant, "Likes tea.")
    with every_tenant():
        assert Fact.objects.count() == 4


def test_scopes_that_look_alike_when_joined_stay_apart(tenant: Tenant) -> None:
    add_facts(tenant, "Likes tea.", scopes=Scopes(user_id="a:b", agent_id="c"))
    add_facts(tenant, "Likes tea.", scopes=Scopes(user_id="a", agent_id="b:c"))
    assert Owner.objects.count() == 2


def test_a_deleted_text_can_be_added_again(tenant: Tenant) -> None:
    first = add_facts(tenant, "Likes tea.")[0]
    fact_delete(fact=first)
    second = add_facts(tenant, "Likes tea.")[0]
    assert second.pk != first.pk
    assert Fact.objects.get(status="active").pk == second.pk


def test_an_expired_fact_makes_room_for_the_same_text(tenant: Tenant) -> None:
    first = add_facts(tenant, "Is on holiday.")[0]
    Fact.objects.filter(pk=first.pk).update(expires_at=timezone.now() - timedelta(minutes=1))
    result = facts_add(tenant=tenant, scopes=ALICE, messages=[Message("user", "Is on holiday.")])
    assert result.facts[0].created
    assert Fact.objects.get(status="active").pk == result.facts[0].fact.pk
    owner = Owner.objects.get()
    assert owner.erasure_epoch == 1
    assert owner.change_seq == max(Fact.objects.values_list("seq", flat=True))
