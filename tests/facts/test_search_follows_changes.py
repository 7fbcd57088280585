"""A search sees what was stored before it and nothing that is gone, though it keeps the owner's facts in memory."""

from datetime import timedelta

from django.db import connection
from django.db.models import Q
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from facts.models import Fact
from facts.scopes import Scopes
from facts.search import facts_search
from facts.services import fact_delete, fact_update
from tenants.models import Tenant
from tenants.scope import tenant_scope

from tests.factories import ALICE, People, add_facts

BOB = Scopes(user_id="bob")


def found(tenant: Tenant, query: str, **asked: object) -> list[str]:
    asked = {"condition": Q(user_id="alice"), "threshold": -1.0, **asked}
    return [scored.fact.text for scored in facts_search(tenant=tenant, query=query, **asked)]  # type: ignore[arg-type]


def test_a_new_fact_is_found_by_the_next_search(tenant: Tenant) -> None:
    add_facts(tenant, "Alice keeps bees.")
    assert found(tenant, "cello") == ["Alice keeps bees."]
    add_facts(tenant, "Alice plays the cello.")
    assert found(tenant, "cello") == ["Alice plays the cello.", "Alice keeps bees."]


def test_a_deleted_fact_is_not_found_and_a_changed_one_by_its_new_text(tenant: Tenant) -> None:
    bees, cello = add_facts(tenant, "Alice keeps bees.", "Alice plays the cello.")
    assert len(found(tenant, "cello")) == 2
    fact_delete(fact=cello)
    fact_update(fact=bees, text="Alice sold her hives.")
    assert found(tenant, "cello") == ["Alice sold her hives."]
    assert found(tenant, "Alice sold her hives.", threshold=0.99) == ["Alice sold her hives."]


def test_vectors_are_read_once(tenant: Tenant) -> None:
    add_facts(tenant, *[f"Alice met person {number}." for number in range(20)])
    found(tenant, "people")
    with CaptureQueriesContext(connection) as queries:
        assert len(found(tenant, "people", top_k=3)) == 3
    assert not [query for query in queries if '"embedding"' in query["sql"]]


def test_a_fact_that_expires_meanwhile_is_found_only_when_asked_for(tenant: Tenant) -> None:
    (bees,) = add_facts(tenant, "Alice keeps bees.")
    assert found(tenant, "bees") == ["Alice keeps bees."]
    Fact.objects.filter(pk=bees.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert found(tenant, "bees") == []
    assert found(tenant, "bees", show_expired=True) == ["Alice keeps bees."]


def test_a_fact_expired_before_the_first_search_is_found_when_asked_for(tenant: Tenant) -> None:
    bees, _ = add_facts(tenant, "Alice keeps bees.", "Alice plays the cello.")
    Fact.objects.filter(pk=bees.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert found(tenant, "bees") == ["Alice plays the cello."]
    assert found(tenant, "bees", show_expired=True)[0] == "Alice keeps bees."


def test_several_users_facts_are_ranked_together(tenant: Tenant) -> None:
    add_facts(tenant, "Alice keeps bees.", "Alice was born in Lisbon.")
    add_facts(tenant, "Bob keeps bees.", "Bob plays chess.", scopes=BOB)
    everybody = {"condition": Q(user_id="alice") | Q(user_id="bob"), "top_k": 2}
    assert set(found(tenant, "Who keeps bees?", **everybody)) == {"Alice keeps bees.", "Bob keeps bees."}
    add_facts(tenant, "Bob has bees in his attic.", scopes=BOB)
    assert "Bob has bees in his attic." in found(tenant, "bees in an attic", **everybody)


def test_an_agents_facts_are_found_whosever_they_are(tenant: Tenant) -> None:
    cook = {"agent_id": "cook"}
    add_facts(tenant, "Alice likes soup.", scopes=Scopes(user_id="alice", **cook))
    add_facts(tenant, "Alice likes tea.")
    agents = {"condition": Q(**cook)}
    assert found(tenant, "likes", **agents) == ["Alice likes soup."]
    add_facts(tenant, "Bob likes cake.", scopes=Scopes(user_id="bob", **cook))
    assert set(found(tenant, "likes", **agents)) == {"Alice likes soup.", "Bob likes cake."}


def test_a_name_that_vectors_blur_is_found_by_its_word(tenant: Tenant) -> None:
    parcels = [f"The parcel with number {number} was sent to a customer." for number in range(700, 730)]
    add_facts(tenant, *parcels, "Zofia was ill on Monday.")
    question = "How are packages shipped to clients? Zofia wonders."
    assert "Zofia was ill on Monday." in found(tenant, question, top_k=3)
    assert "Zofia was ill on Monday." not in found(tenant, question, top_k=3, threshold=0.5), "the cosine's threshold"
    only = Q(user_id="alice", text__startswith="The parcel")
    assert len(found(tenant, question, top_k=31, condition=only)) == 30


def test_equal_names_of_two_tenants_share_nothing(tenant: Tenant, people: People) -> None:
    add_facts(tenant, "Alice keeps bees.")
    with tenant_scope(people.other_tenant):
        add_facts(people.other_tenant, "Alice plays the cello.", scopes=ALICE)
    assert found(tenant, "Alice") == ["Alice keeps bees."]
    assert found(people.other_tenant, "Alice") == ["Alice plays the cello."]
