"""Users are seen with what they weigh, exported, and erased for good."""

import pytest
from django.urls import reverse
from django.utils import timezone
from facts.models import Encoding, Fact, FactHistory, Owner, Turn
from facts.scopes import Scopes
from facts.services import encoding_drop
from jobs.models import Job
from jobs.services import job_finish, job_take, part_append
from tenants.models import AuditEntry, Tenant
from tenants.scope import tenant_scope
from usage.models import OwnerActivity

from tests.factories import People, add_facts, encode_fact
from tests.frontend.conftest import Clients, queries
from tests.streams import content_of


def address(name: str, tenant: Tenant, *args: object) -> str:
    return reverse(f"dashboard:{name}", args=[tenant.slug, *args])


@pytest.fixture
def alice(tenant: Tenant) -> Owner:
    tea, _ = add_facts(tenant, "Likes tea.", "Keeps bees.")
    encode_fact(tea)
    owner = Owner.objects.get(name="alice")
    OwnerActivity.objects.create(owner=owner, tenant=tenant, active_at=timezone.now(), residence="memory")
    return owner


def test_each_user_has_its_figures(alice: Owner, tenant: Tenant, clients: Clients) -> None:
    add_facts(tenant, "Likes rum.", scopes=Scopes(user_id="bob"))
    rows = clients.viewer.get(address("users", tenant)).context["rows"]
    figures = {row["figures"].owner.name: row["figures"] for row in rows}
    assert (figures["alice"].facts, figures["alice"].encoded, figures["alice"].bytes) == (2, 1, 4096)
    assert (figures["bob"].facts, figures["bob"].bytes) == (1, 0)
    page = clients.viewer.get(address("users", tenant), {"name": "ALI"}).content.decode()
    assert "alice" in page
    assert "bob" not in page
    assert "memory and disk" in page


def test_agents_have_a_list_of_their_own(tenant: Tenant, clients: Clients) -> None:
    add_facts(tenant, "Answers in rhymes.", scopes=Scopes(agent_id="poet"))
    assert "poet" in clients.viewer.get(address("users", tenant), {"kind": "agent"}).content.decode()
    assert "poet" not in clients.viewer.get(address("users", tenant)).content.decode()


def test_another_tenants_user_is_not_there(people: People, clients: Clients) -> None:
    with tenant_scope(people.other_tenant):
        add_facts(people.other_tenant, "Likes rum.")
        theirs = Owner.objects.get()
    for name in ("user", "user-export", "user-erase"):
        method = clients.owner.get if name == "user" else clients.owner.post
        assert method(address(name, people.tenant, theirs.pk), {"name": "alice"}).status_code == 404
    with tenant_scope(people.other_tenant):
        assert Fact.objects.filter(status="active").exists()


def test_erasing_needs_the_name_typed_out(alice: Owner, tenant: Tenant, clients: Clients) -> None:
    answer = clients.admin.post(address("user-erase", tenant, alice.pk), {"name": "Alice"})
    assert (answer.status_code, Fact.objects.filter(status="active").count()) == (400, 2)
    assert not AuditEntry.objects.exists()


def test_erasing_leaves_nothing_and_reports_it(alice: Owner, tenant: Tenant, clients: Clients) -> None:
    answer = clients.admin.post(address("user-erase", tenant, alice.pk), {"name": "alice"})
    report = answer["location"]
    page = clients.viewer.get(report).content.decode()
    assert "2 facts deleted" in page
    assert "1 encoding still to be dropped" in page
    assert not Fact.objects.exclude(text="").exists()
    assert not FactHistory.objects.exists()
    assert not Turn.objects.exists()
    for encoding in Encoding.objects.select_related("tenant"):
        encoding_drop(encoding=encoding)
    assert "No KV is left in any tier" in clients.viewer.get(report).content.decode()
    assert AuditEntry.objects.get().action == "user.erase"


def test_an_export_is_written_by_a_job_and_downloaded(alice: Owner, tenant: Tenant, clients: Clients) -> None:
    export = clients.admin.post(address("user-export", tenant, alice.pk))["location"]
    assert "0 of 0 facts are written" in clients.admin.get(export).content.decode()
    job = job_take(tenant=tenant, job_id=Job.objects.get().pk, now=timezone.now())
    assert job is not None
    part_append(job=job, number=1, body='{"memory": "Likes tea."}\n', rows=1)
    job_finish(job=job)
    file = address("export-file", tenant, job.pk)
    assert file in clients.admin.get(export).content.decode()
    assert content_of(clients.admin.get(file)) == b'{"memory": "Likes tea."}\n'
    assert [clients.viewer.get(path).status_code for path in (export, file)] == [403, 403]
    assert job.options["filters"] == {"user_id": "alice"}


def test_many_users_cost_as_many_queries_as_few(alice: Owner, tenant: Tenant, clients: Clients) -> None:
    before = queries(clients.viewer, address("users", tenant))
    for i in range(20):
        add_facts(tenant, "Likes tea.", scopes=Scopes(user_id=f"user {i}"))
    assert queries(clients.viewer, address("users", tenant)) == before <= 12


def test_the_owner_of_facts_is_linked_to_them(alice: Owner, tenant: Tenant, clients: Clients) -> None:
    page = clients.viewer.get(address("user", tenant, alice.pk)).content.decode()
    assert f"{address('facts', tenant)}?user=alice" in page
