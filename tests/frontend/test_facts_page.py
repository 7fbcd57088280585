"""Facts are found by words and by meaning, filtered by link, changed, deleted and encoded again."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone
from facts.models import Encoding, Fact, FactHistory
from facts.scopes import Scopes
from facts.services import Message, encoding_mark_failed, encoding_start, facts_add
from tenants.models import AuditEntry, Tenant
from tenants.scope import tenant_scope
from usage.models import FactInjection

from tests.factories import ALICE, FINGERPRINT, STRATEGY, People, add_facts, encode_fact
from tests.frontend.conftest import Clients, queries

BOB = Scopes(user_id="bob")


def facts_path(tenant: Tenant) -> str:
    return reverse("dashboard:facts", args=[tenant.slug])


def fact_path(fact: Fact, name: str = "fact") -> str:
    return reverse(f"dashboard:{name}", args=[fact.tenant.slug, fact.pk])


def found(client: Client, tenant: Tenant, **query: str) -> list[str]:
    answer = client.get(facts_path(tenant), query)
    assert answer.status_code == 200, answer.content
    return [row["fact"].text for row in answer.context["rows"]]


@pytest.fixture
def several(tenant: Tenant) -> list[Fact]:
    """Ready, failed, waiting; and one of Bob's."""
    tea, bees, bonn = add_facts(tenant, "Likes green tea.", "Keeps bees.", "Lives in Bonn.")
    encode_fact(tea)
    encoding = encoding_start(fact_or_owner=bees, fingerprint=FINGERPRINT, strategy=STRATEGY)
    encoding_mark_failed(encoding=encoding, error="the engine refused it")
    (coffee,) = add_facts(tenant, "Likes coffee.", scopes=BOB)
    return [tea, bees, bonn, coffee]


@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ({}, ["Likes coffee.", "Lives in Bonn.", "Keeps bees.", "Likes green tea."]),
        ({"q": "like"}, ["Likes coffee.", "Likes green tea."]),
        ({"q": "likes -coffee"}, ["Likes green tea."]),
        ({"q": "nothing like that zebra"}, []),
        ({"user": "bob"}, ["Likes coffee."]),
        ({"encoding": "ready"}, ["Likes green tea."]),
        ({"encoding": "failed"}, ["Keeps bees."]),
        ({"encoding": "waiting"}, ["Likes coffee.", "Lives in Bonn."]),
        ({"encoding": "ready", "q": "bees"}, []),
        ({"status": "superseded"}, []),
    ],
)
def test_filters_stand_in_the_link(
    query: dict[str, str], texts: list[str], several: list[Fact], tenant: Tenant, clients: Clients
) -> None:
    assert found(clients.viewer, tenant, **query) == texts


def test_another_tenants_facts_are_not_among_them(people: People, several: list[Fact], clients: Clients) -> None:
    with tenant_scope(people.other_tenant):
        (theirs,) = add_facts(people.other_tenant, "Likes rum.")
    assert "Likes rum." not in found(clients.viewer, people.tenant, q="likes")
    assert clients.owner.get(reverse("dashboard:fact", args=[people.tenant.slug, theirs.pk])).status_code == 404


def test_meaning_finds_what_words_do_not(several: list[Fact], tenant: Tenant, clients: Clients) -> None:
    query = {"q": "Which town is home?", "by": "meaning", "user": "alice"}
    assert found(clients.viewer, tenant, **query)[0] == "Lives in Bonn."
    assert found(clients.viewer, tenant, q="Which town is home?") == []


def test_when_a_fact_was_last_injected(several: list[Fact], tenant: Tenant, clients: Clients) -> None:
    at = timezone.now() - timedelta(hours=3)
    FactInjection.objects.create(fact=several[0], tenant=tenant, injected_at=at)
    rows = clients.viewer.get(facts_path(tenant)).context["rows"]
    assert [row["injected_at"] for row in rows if row["injected_at"]] == [at]
    assert "3 h ago" in clients.viewer.get(fact_path(several[0])).content.decode()
    assert "never" in clients.viewer.get(fact_path(several[1])).content.decode()


def test_meaning_needs_somebody(tenant: Tenant, several: list[Fact], clients: Clients) -> None:
    answer = clients.viewer.get(facts_path(tenant), {"q": "home", "by": "meaning"})
    assert answer.status_code == 400
    assert "needs a user" in answer.content.decode()


def test_a_filter_that_is_none_is_told(tenant: Tenant, clients: Clients) -> None:
    answer = clients.viewer.get(facts_path(tenant), {"encoding": "boiled"})
    assert (answer.status_code, "encoding" in answer.context["form"].errors) == (400, True)


def test_an_edit_is_an_update_with_history_and_audit(several: list[Fact], tenant: Tenant, clients: Clients) -> None:
    tea = several[0]
    form = {"text": "Likes black tea.", "metadata": '{"a": 1}', "expires_at": ""}
    page = clients.admin.post(fact_path(tea), form, follow=True).content.decode()
    tea.refresh_from_db()
    assert (tea.text, tea.metadata) == ("Likes black tea.", {"a": 1})
    assert "<del>green</del><ins>black</ins>" in page
    assert FactHistory.objects.get(event="UPDATE").actor == "user:admin"
    entry = AuditEntry.objects.get(action="fact.update")
    assert (entry.target, entry.details) == (str(tea.pk), {"fields": ["metadata", "text"]})
    assert Encoding.objects.get(fact=tea).state == "stale"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"text": "Keeps bees."}, "text"),
        ({"text": " "}, "text"),
        ({"metadata": "[1]"}, "metadata"),
        ({"metadata": "{"}, "metadata"),
    ],
)
def test_a_bad_edit_is_refused_at_its_field_and_not_noted(
    change: dict[str, str], field: str, several: list[Fact], clients: Clients
) -> None:
    answer = clients.admin.post(fact_path(several[0]), {"text": "Likes tea.", "metadata": "{}", **change})
    assert (answer.status_code, list(answer.context["form"].errors)) == (400, [field])
    assert not AuditEntry.objects.exists()


def test_a_fact_shows_what_it_was_encoded_behind_and_why_it_failed(
    several: list[Fact], tenant: Tenant, clients: Clients
) -> None:
    tea, bees, bonn, _ = several
    encode_fact(bonn, context=[tea])
    page = clients.viewer.get(fact_path(bonn)).content.decode()
    assert "Encoded behind 1 fact" in page
    assert fact_path(tea) in page
    assert "the engine refused it" in clients.viewer.get(fact_path(bees)).content.decode()


def test_a_superseded_fact_leads_to_its_successor(tenant: Tenant, clients: Clients) -> None:
    add_facts(tenant, "Lives in Berlin.")
    facts_add(tenant=tenant, scopes=ALICE, messages=[Message("user", "Lives in Bonn.")])
    old, new = Fact.objects.order_by("created_at")
    Fact.objects.filter(pk=old.pk).update(status="superseded", superseded_by=new, valid_until=new.created_at)
    page = clients.admin.get(fact_path(old)).content.decode()
    assert "It held until" in page
    assert fact_path(new) in page
    assert "Change it" not in page
    assert found(clients.viewer, tenant, status="superseded") == ["Lives in Berlin."]


def test_deleting_one_drops_it_everywhere(several: list[Fact], tenant: Tenant, clients: Clients) -> None:
    assert clients.admin.post(fact_path(several[0], "fact-delete")).status_code == 302
    assert "Likes green tea." not in found(clients.viewer, tenant, status="any")
    assert clients.viewer.get(fact_path(several[0])).status_code == 404
    assert Encoding.objects.get(fact=several[0]).state == "stale"
    assert AuditEntry.objects.get().action == "fact.delete"


def test_many_are_deleted_at_once(several: list[Fact], tenant: Tenant, clients: Clients) -> None:
    back = f"{facts_path(tenant)}?q=likes"
    chosen = {"fact": [several[0].pk, several[3].pk, "nonsense"], "action": "delete", "back": back}
    answer = clients.admin.post(reverse("dashboard:facts-bulk", args=[tenant.slug]), chosen)
    assert answer["location"] == back
    assert found(clients.viewer, tenant) == ["Lives in Bonn.", "Keeps bees."]
    assert AuditEntry.objects.get().details == {"count": 2}


def test_many_are_encoded_again(several: list[Fact], tenant: Tenant, clients: Clients) -> None:
    chosen = {"fact": [fact.pk for fact in several], "action": "encode"}
    clients.admin.post(reverse("dashboard:facts-bulk", args=[tenant.slug]), chosen)
    assert set(Encoding.objects.values_list("state", flat=True)) == {"stale"}


def test_one_unknown_fact_among_the_chosen_stops_all(several: list[Fact], people: People, clients: Clients) -> None:
    with tenant_scope(people.other_tenant):
        (theirs,) = add_facts(people.other_tenant, "Likes rum.")
    chosen: dict[str, Any] = {"fact": [several[0].pk, theirs.pk], "action": "delete"}
    page = clients.admin.post(reverse("dashboard:facts-bulk", args=[people.tenant.slug]), chosen, follow=True)
    assert "Nothing was changed" in page.content.decode()
    assert len(found(clients.viewer, people.tenant)) == 4
    assert not AuditEntry.objects.exists()


def test_the_way_back_leads_nowhere_else(several: list[Fact], tenant: Tenant, clients: Clients) -> None:
    chosen = {"fact": [uuid4()], "action": "encode", "back": "https://example.com/"}
    answer = clients.admin.post(reverse("dashboard:facts-bulk", args=[tenant.slug]), chosen)
    assert answer["location"] == facts_path(tenant)


def test_many_facts_cost_as_many_queries_as_few(tenant: Tenant, several: list[Fact], clients: Clients) -> None:
    before = queries(clients.viewer, facts_path(tenant))
    for fact in add_facts(tenant, *(f"Fact number {i}." for i in range(60))):
        encode_fact(fact)
    assert queries(clients.viewer, facts_path(tenant)) == before <= 10
    assert queries(clients.viewer, fact_path(several[0])) <= 16
