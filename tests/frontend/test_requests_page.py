"""The log of requests: filtered by link, and one request in its parts."""

from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from facts.services import entity_erase, fact_delete
from tenants.models import Tenant
from tenants.scope import tenant_scope
from usage.models import RequestRecord
from usage.services import RequestRecordData, request_records_write

from tests.factories import People, add_facts
from tests.frontend.conftest import Clients, queries


def requests_path(tenant: Tenant) -> str:
    return reverse("dashboard:requests", args=[tenant.slug])


def asked(tenant: Tenant, request_id: str, **changes: Any) -> None:
    fields: dict[str, Any] = {"mode": "inject", "status": 200, "owner_name": "ada", "ttft_ms": 80.0, "total_ms": 400.0}
    request_records_write([RequestRecordData(tenant_id=tenant.pk, request_id=request_id, **{**fields, **changes})])


@pytest.fixture
def several(tenant: Tenant) -> None:
    asked(tenant, "plain")
    asked(tenant, "slow", mode="prompt", ttft_ms=900.0)
    asked(tenant, "bob", owner_name="bob", mode="none")
    asked(tenant, "broken", status=500, ttft_ms=None)
    asked(tenant, "refused", status=429, ttft_ms=None)
    asked(tenant, "left", status=499)
    asked(tenant, "old", created_at=timezone.now() - timedelta(days=3))


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, ["left", "refused", "broken", "bob", "slow", "plain"]),
        ({"period": "7d", "user": "ada", "outcome": "answered"}, ["slow", "plain", "old"]),
        ({"user": "bob"}, ["bob"]),
        ({"mode": "prompt"}, ["slow"]),
        ({"outcome": "failed"}, ["broken"]),
        ({"outcome": "refused"}, ["refused"]),
        ({"outcome": "left"}, ["left"]),
        ({"slower": "500"}, ["slow"]),
        ({"id": "plain"}, ["plain"]),
        ({"id": "unheard of"}, []),
    ],
)
def test_filters_stand_in_the_link(
    query: dict[str, str], found: list[str], several: None, tenant: Tenant, clients: Clients
) -> None:
    page = clients.viewer.get(requests_path(tenant), query).context["page"]
    assert [record.request_id for record in page] == found


def test_a_filter_that_is_none_is_told(tenant: Tenant, clients: Clients) -> None:
    answer = clients.viewer.get(requests_path(tenant), {"slower": "soon"})
    assert (answer.status_code, "slower" in answer.context["form"].errors) == (400, True)


def test_one_request_in_its_parts(tenant: Tenant, clients: Clients) -> None:
    asked(
        tenant, "r1", retrieval_ms=10.0, prompt_tokens=1500, tokens_injected_planned=1450, cached_tokens=1440, facts=50
    )
    record = RequestRecord.objects.get()
    answer = clients.viewer.get(reverse("dashboard:request", args=[tenant.slug, record.pk]))
    assert [value for _, value in answer.context["phases"]] == [10.0, 70.0, 320.0]
    page = answer.content.decode()
    for figure in ("1,500", "1,450", "1,440", "70 ms", "320 ms"):
        assert figure in page


def test_the_facts_of_a_request_stand_in_its_order(tenant: Tenant, clients: Clients) -> None:
    tea, bees, bonn = add_facts(tenant, "Likes tea.", "Keeps bees.", "Lives in Bonn.")
    asked(tenant, "r1", facts=3, fact_ids=[bees.pk, tea.pk, bonn.pk], facts_injected=2)
    fact_delete(fact=tea)
    path = reverse("dashboard:request", args=[tenant.slug, RequestRecord.objects.get().pk])
    answer = clients.viewer.get(path)
    used = [(one["fact"] and one["fact"].text, one["injected"]) for one in answer.context["used"]]
    assert used == [("Keeps bees.", True), (None, True), ("Lives in Bonn.", False)]
    page = answer.content.decode()
    assert "deleted since" in page
    assert "Likes tea." not in page
    assert "2 to be injected, 1 as text" in page
    entity_erase(tenant=tenant, kind="user", name="alice")
    assert [one["fact"] for one in clients.viewer.get(path).context["used"]] == [None] * 3


def test_a_request_from_before_facts_were_noted_says_so(tenant: Tenant, clients: Clients) -> None:
    asked(tenant, "old", facts=7)
    RequestRecord.objects.update(fact_ids=None, facts_injected=None)
    answer = clients.viewer.get(reverse("dashboard:request", args=[tenant.slug, RequestRecord.objects.get().pk]))
    assert "before its facts were noted" in answer.content.decode()


def test_a_fact_leads_to_the_requests_that_used_it(tenant: Tenant, clients: Clients) -> None:
    tea, bees = add_facts(tenant, "Likes tea.", "Keeps bees.")
    asked(tenant, "both", owner_name="alice", fact_ids=[bees.pk, tea.pk], facts_injected=1)
    asked(tenant, "bees", owner_name="alice", fact_ids=[bees.pk])
    asked(tenant, "none", owner_name="alice")
    link = f"?period=7d&amp;user=alice&amp;fact={tea.pk}"
    assert link in clients.viewer.get(reverse("dashboard:fact", args=[tenant.slug, tea.pk])).content.decode()
    page = clients.viewer.get(requests_path(tenant) + link.replace("&amp;", "&")).context["page"]
    assert [record.request_id for record in page] == ["both"]
    assert clients.viewer.get(requests_path(tenant), {"fact": "tea"}).status_code == 400


def test_another_tenants_request_is_not_there(people: People, clients: Clients) -> None:
    asked(people.other_tenant, "theirs")
    with tenant_scope(people.other_tenant):
        theirs = RequestRecord.objects.get()
    assert clients.owner.get(reverse("dashboard:request", args=[people.tenant.slug, theirs.pk])).status_code == 404
    assert not list(clients.owner.get(requests_path(people.tenant)).context["page"])


def test_many_requests_cost_as_many_queries_as_few(several: None, tenant: Tenant, clients: Clients) -> None:
    before = queries(clients.viewer, requests_path(tenant))
    for i in range(60):
        asked(tenant, f"more {i}")
    assert queries(clients.viewer, requests_path(tenant)) == before <= 8
