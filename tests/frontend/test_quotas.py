"""Quotas are shown with what is used of them, and set by staff alone."""

import csv

import pytest
from django.urls import reverse
from tenants.models import AuditEntry, Tenant
from tenants.scope import tenant_scope
from tenants.selectors import tenant_quota
from tenants.services import quota_set
from usage.services import RequestRecordData, request_records_write
from usage.tiers import TierHoldingData, tier_holdings_replace

from frontend.quota_form import QuotaForm
from tests.factories import People, add_facts, encode_fact
from tests.frontend.conftest import Clients


def address(name: str, tenant: Tenant) -> str:
    return reverse(f"dashboard:{name}", args=[tenant.slug])


@pytest.fixture
def used(people: People) -> Tenant:
    """Four facts, one blob of 4096 bytes, also in host memory, and three chats."""
    tenant = people.tenant
    with tenant_scope(tenant):
        fact, *_ = add_facts(tenant, "Likes tea.", "Keeps bees.", "Lives in Bonn.", "Is 40.")
        encode_fact(fact)
    holding = TierHoldingData(tenant_id=tenant.pk, owner_id=fact.owner_id, tier="host", blobs=1, bytes=4096)
    tier_holdings_replace([holding])
    data = RequestRecordData(
        tenant_id=tenant.pk, mode="inject", status=200, prompt_tokens=100, tokens_injected_planned=80, output_tokens=7
    )
    request_records_write([data] * 3)
    return tenant


def test_what_is_used_is_shown_against_the_limits(used: Tenant, clients: Clients) -> None:
    limits = {"facts": 5, "chats_per_day": 3, "kv_disk_bytes": 1_000_000, "kv_host_bytes": 8192}
    quota_set(tenant=used, limits=dict(limits), actor="test")
    for name in ("settings", "overview"):
        answer = clients.viewer.get(address(name, used))
        rows = {row.name: (row.used, row.limit, row.level) for row in answer.context["quotas"] if row.limit is not None}
        assert rows == {
            "facts": (4, 5, "prompt"),
            "chats_per_day": (3, 3, "full"),
            "kv_disk_bytes": (4096, 1_000_000, "inject"),
            "kv_host_bytes": (4096, 8192, "inject"),
        }
        text = answer.content.decode()
        assert "4.1 KB of 1.0 MB" in text
        assert "used up" in text


def test_tokens_of_the_month_are_told(used: Tenant, clients: Clients) -> None:
    text = clients.viewer.get(address("settings", used)).content.decode()
    assert "300 of prompts, of which 240 were injected, and 21 of answers" in text


def test_without_limits_the_overview_says_nothing_of_them(used: Tenant, clients: Clients) -> None:
    assert clients.viewer.get(address("overview", used)).context["quotas"] == []
    assert "no limit" in clients.viewer.get(address("settings", used)).content.decode()


def test_staff_set_them_and_it_is_in_the_audit_log(people: People, clients: Clients) -> None:
    form = {"facts": "1000", "chats_per_day": "", "kv_disk_bytes": "1.5 gb", "kv_host_bytes": "4096"}
    answer = clients.staff.post(address("settings-quotas", people.tenant), form, follow=True)
    assert "Saved." in answer.content.decode()
    quota = tenant_quota(tenant=Tenant.objects.get(pk=people.tenant.pk))
    assert (quota.facts, quota.chats_per_day, quota.kv_disk_bytes, quota.kv_host_bytes) == (
        1000,
        None,
        1_500_000_000,
        4096,
    )
    with tenant_scope(people.tenant):
        entry = AuditEntry.objects.get()
    assert (entry.actor, entry.action) == ("user:staff", "quota.set")
    assert entry.details == {"facts": 1000, "kv_disk_bytes": 1_500_000_000, "kv_host_bytes": 4096}
    assert 'value="1500 MB"' in answer.content.decode()
    clients.staff.post(address("settings-quotas", people.tenant), {**form, "kv_disk_bytes": "1500 MB"})
    with tenant_scope(people.tenant):
        assert AuditEntry.objects.count() == 1


def test_nobody_else_does(people: People, clients: Clients) -> None:
    path = address("settings-quotas", people.tenant)
    found = [getattr(clients, who).post(path, {"facts": 1}).status_code for who in ("owner", "viewer", "stranger")]
    assert found == [403, 403, 404]
    assert "Save the quotas" not in clients.owner.get(address("settings", people.tenant)).content.decode()
    assert "Save the quotas" in clients.staff.get(address("settings", people.tenant)).content.decode()
    assert tenant_quota(tenant=Tenant.objects.get(pk=people.tenant.pk)).facts is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *(("kv_disk_bytes", value) for value in ("much", "-1", "1 XB", "1e9", "9" * 18 + " PB")),
        *(("facts", value) for value in ("-1", "1.5", "9" * 30)),
    ],
)
def test_nonsense_is_refused_at_the_field(field: str, value: str, people: People, clients: Clients) -> None:
    answer = clients.staff.post(address("settings-quotas", people.tenant), {field: value})
    assert (answer.status_code, list(answer.context["quota_form"].errors)) == (400, [field])


@pytest.mark.parametrize(("size", "shown"), [(0, "0 B"), (1, "1 B"), (1500, "1500 B"), (2_000_000, "2 MB")])
def test_a_size_is_shown_as_it_would_be_taken(size: int, shown: str) -> None:
    field = QuotaForm().fields["kv_disk_bytes"]
    assert field.prepare_value(size) == shown
    assert field.clean(shown) == size


def test_the_csv_has_each_limit(used: Tenant, clients: Clients) -> None:
    quota_set(tenant=used, limits={"facts": 9}, actor="test")
    answer = clients.viewer.get(address("quotas-csv", used))
    rows = {row["quota"]: (row["used"], row["limit"]) for row in csv.DictReader(answer.content.decode().splitlines())}
    assert rows["facts"] == ("4", "9")
    assert rows["chats_per_day"] == ("", "")
    assert len(rows) == 6
