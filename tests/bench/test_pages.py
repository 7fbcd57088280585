"""The dashboard's pages are asked for over HTTP, with facts and request records stored for it."""

from itertools import islice

import httpx
import pytest
from django.contrib.auth.models import User
from facts.models import Encoding, Fact
from pytest_django.live_server_helper import LiveServer
from tenants.models import Tenant
from tenants.scope import tenant_scope
from tenants.services import tenant_create
from usage.models import RequestRecord

from inference.bench.errors import BenchError
from inference.bench.pages import Page, measure_pages, page_rows, pages_of, staff_client
from inference.bench.pages_data import FACTS_A_USER, filled, store_facts, store_records
from inference.bench.report.pages import pages_grid

FACTS = FACTS_A_USER + 20


@pytest.fixture
def full(transactional_db: None) -> Tenant:
    tenant = tenant_create(name="Bench")
    assert list(store_facts(tenant, FACTS, dimensions=8, model="m")) == [FACTS_A_USER, FACTS]
    assert list(store_records(tenant, 30, users=2)) == [30]
    return tenant


@pytest.fixture
def http(full: Tenant, live_server: LiveServer) -> httpx.Client:
    return staff_client(live_server.url, User.objects.create_user("staff", is_staff=True))


def test_there_is_as_much_as_was_asked_for(full: Tenant) -> None:
    with tenant_scope(full):
        assert Fact.objects.count() == Encoding.objects.filter(state="ready").count() == FACTS
        assert RequestRecord.objects.count() == 30
        assert set(RequestRecord.objects.values_list("mode", flat=True)) == {"none", "prompt", "inject"}


def test_every_page_is_timed_once_a_round(full: Tenant, http: httpx.Client) -> None:
    pages = pages_of(filled(full))
    rounds = list(measure_pages(http, pages, rounds=2))
    assert len(rounds) == 2
    rows = page_rows(rounds[-1], {"shape": "dashboard", "facts": FACTS, "records": 30})
    assert {row["mode"]: len(row["samples_ms"]) for row in rows} == {page.name: 2 for page in pages}
    assert {line[1] for line in pages_grid(rows).rows} == {f"{FACTS:,}"}


def test_a_page_that_does_not_come_ends_the_measuring(http: httpx.Client) -> None:
    nowhere = measure_pages(http, [Page("nowhere", "/t/nobody/facts/")], rounds=1)
    with pytest.raises(BenchError, match="/t/nobody/facts/ answers 404"):
        next(islice(nowhere, 1))
