import pytest
from facts.errors import InvalidInputError
from facts.models import Event, Fact, FactHistory, Owner
from facts.scopes import Scopes
from facts.search import facts_search
from facts.selectors import facts_matching
from facts.services import fact_delete, facts_delete
from tenants.models import Tenant
from tenants.scope import every_tenant

from tests.factories import ALICE, People, add_facts


def test_a_deleted_fact_is_in_no_list_and_no_search_and_has_no_vector(tenant: Tenant) -> None:
    fact = add_facts(tenant, "Likes tea.")[0]
    fact_delete(fact=fact, actor="key 1")
    assert not facts_matching(tenant=tenant).exists()
    assert facts_search(tenant=tenant, query="tea", threshold=0) == []
    fact.refresh_from_db()
    assert fact.embedding is None
    entry = FactHistory.objects.get(event="DELETE")
    assert (entry.old_text, entry.new_text, entry.actor) == ("Likes tea.", "", "key 1")


def test_delete_many_takes_all_that_match_and_no_other(tenant: Tenant, people: People) -> None:
    for start in range(0, 250, 125):
        add_facts(tenant, *[f"Fact {number}." for number in range(start, start + 125)])
    kept = add_facts(tenant, "Bob's.", scopes=Scopes(user_id="bob"))[0]
    foreign = add_facts(people.other_tenant, "A stranger's.")[0]
    result = facts_delete(tenant=tenant, scopes=ALICE)
    assert result.count == 250
    assert (result.event.event_type, len(result.event.results)) == ("DELETE_ALL", 250)
    with every_tenant():
        assert set(Fact.objects.filter(status="active")) == {kept, foreign}
    assert FactHistory.objects.filter(event="DELETE").count() == 250


def test_delete_many_needs_every_name_to_match_whoever_owns_the_memory(tenant: Tenant) -> None:
    monday, butler = Scopes(user_id="alice", run_id="monday"), Scopes(agent_id="butler", run_id="monday")
    add_facts(tenant, "a", scopes=monday)
    add_facts(tenant, "b", scopes=butler)
    kept = add_facts(tenant, "c", scopes=Scopes(user_id="alice", run_id="tuesday"))[0]
    assert facts_delete(tenant=tenant, scopes=Scopes(run_id="monday")).count == 2
    assert Fact.objects.get(status="active") == kept
    assert set(Owner.objects.values_list("erasure_epoch", flat=True)) == {1}


def test_delete_many_without_a_name_is_refused(tenant: Tenant) -> None:
    add_facts(tenant, "a")
    with pytest.raises(InvalidInputError, match="at least one"):
        facts_delete(tenant=tenant, scopes=Scopes())
    assert Fact.objects.filter(status="active").exists()


def test_delete_many_that_matches_nothing_moves_nothing(tenant: Tenant) -> None:
    add_facts(tenant, "a")
    assert facts_delete(tenant=tenant, scopes=Scopes(user_id="nobody")).count == 0
    assert Owner.objects.get().erasure_epoch == 0
    assert Event.objects.filter(event_type="DELETE_ALL").exists()
