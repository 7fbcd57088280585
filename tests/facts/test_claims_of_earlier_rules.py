"""Facts that were stored before there were claims, or under other rules, get theirs, so that they can be superseded."""

import pytest
from facts.models import Fact
from facts.selectors import rivals
from facts.services import claims, fact_update, facts_claim_outdated
from facts.truth import CLAIM_VERSION, claim_key
from tenants.models import Tenant
from tenants.scope import tenant_scope

from tests.factories import People, add_facts
from tests.facts.remembering import active, remember

HOMES = [f"Person{number} lives in Berlin." for number in range(7)]


def as_stored_earlier() -> None:
    Fact.objects.update(claim_key="", claim_version=0)


@pytest.mark.parametrize("is_done", [False, True])
def test_a_contradiction_is_found_among_many_nearer_facts_once_they_have_claims(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, is_done: bool
) -> None:
    monkeypatch.setattr(rivals, "NEAREST", 1)
    add_facts(tenant, "Ana lives in Berlin.", "Ana moved a sofa to her aunt in Paris.")
    as_stored_earlier()
    if is_done:
        assert facts_claim_outdated(tenant=tenant, limit=100) == 2
    remember(tenant, "Ana moved to Paris.")
    assert ("Ana lives in Berlin." in active(tenant)) is not is_done


def test_it_goes_on_where_it_stopped_until_none_is_left(tenant: Tenant) -> None:
    add_facts(tenant, *HOMES)
    as_stored_earlier()
    assert [facts_claim_outdated(tenant=tenant, limit=3) for _ in range(4)] == [3, 3, 1, 0]
    found = dict(Fact.objects.values_list("text", "claim_key"))
    assert found == {text: claim_key(text) for text in HOMES}
    assert len(set(found.values())) == len(HOMES)


def test_facts_stored_now_have_their_claims(tenant: Tenant) -> None:
    (fact,) = add_facts(tenant, "Ana lives in Berlin.")
    remember(tenant, "Tom lives in Rome.")
    fact_update(fact=fact, text="Ana lives in Oslo.")
    assert set(Fact.objects.values_list("claim_version", flat=True)) == {CLAIM_VERSION}
    assert facts_claim_outdated(tenant=tenant, limit=100) == 0


def test_a_fact_that_is_changed_meanwhile_keeps_the_claim_of_its_new_text(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    (fact,) = add_facts(tenant, "Ana lives in Berlin.")
    as_stored_earlier()

    def while_it_changes(text: str) -> str:
        fact_update(fact=fact, text="Ana drinks tea.")
        return claim_key(text)

    monkeypatch.setattr(claims, "claim_key", while_it_changes)
    assert facts_claim_outdated(tenant=tenant, limit=100) == 0
    assert Fact.objects.get().claim_key == claim_key("Ana drinks tea.") == ""


def test_deleted_facts_and_other_tenants_are_left_alone(tenant: Tenant, people: People) -> None:
    add_facts(tenant, "Ana lives in Berlin.")
    with tenant_scope(people.other_tenant):
        add_facts(people.other_tenant, "Ana lives in Berlin.")
        as_stored_earlier()
    Fact.objects.update(status="deleted", claim_version=0)
    assert facts_claim_outdated(tenant=tenant, limit=100) == 0
    with tenant_scope(people.other_tenant):
        assert Fact.objects.get().claim_version == 0
