"""Settings are changed by admins, refused where they make no sense, and every action is in the audit log."""

import pytest
from django.urls import reverse
from tenants.models import AuditEntry, Tenant
from tenants.selectors import project_settings

from tests.factories import People
from tests.frontend.conftest import Clients


def address(name: str, tenant: Tenant) -> str:
    return reverse(f"dashboard:{name}", args=[tenant.slug])


def test_name_and_strategy_are_changed(tenant: Tenant, clients: Clients) -> None:
    answer = clients.admin.post(
        address("settings", tenant), {"name": " Hive ", "strategy": "nearest(8)+tail(2)"}, follow=True
    )
    tenant.refresh_from_db()
    assert (tenant.name, tenant.strategy) == ("Hive", "nearest(8)+tail(2)")
    assert "encoded anew" in answer.content.decode()
    assert AuditEntry.objects.get().details == {"name": "Hive", "strategy": "nearest(8)+tail(2)"}


@pytest.mark.parametrize("change", [{"name": " "}, {"strategy": "neighbours"}, {"strategy": "window(5000)"}])
def test_nonsense_is_refused_at_the_field(change: dict[str, str], tenant: Tenant, clients: Clients) -> None:
    answer = clients.admin.post(address("settings", tenant), {"name": "Hive", "strategy": "turns(3)", **change})
    assert (answer.status_code, list(answer.context["form"].errors)) == (400, list(change))
    assert Tenant.objects.get(pk=tenant.pk).name == "Home"


def test_nothing_changed_is_nothing_done(tenant: Tenant, clients: Clients) -> None:
    form = {"name": tenant.name, "strategy": tenant.strategy}
    assert clients.admin.post(address("settings", tenant), form).status_code == 302
    assert not AuditEntry.objects.exists()


def test_instructions_for_extraction_are_kept(tenant: Tenant, clients: Clients) -> None:
    clients.admin.post(address("settings-extraction", tenant), {"custom_instructions": "Only about bees."})
    kept = project_settings(tenant=tenant)
    assert (kept.custom_instructions, kept.multilingual) == ("Only about bees.", False)
    assert "Only about bees." in clients.viewer.get(address("settings", tenant)).content.decode()


def test_a_viewer_sees_settings_that_cannot_be_sent(tenant: Tenant, clients: Clients) -> None:
    page = clients.viewer.get(address("settings", tenant)).content.decode()
    assert page.count('<fieldset class="bare" disabled>') == 2
    assert ">Save</button>" not in page


def test_the_audit_log_is_filtered_by_link(people: People, tenant: Tenant, clients: Clients) -> None:
    clients.admin.post(address("settings", tenant), {"name": "Hive", "strategy": "turns(3)"})
    clients.owner.post(address("settings-extraction", tenant), {"custom_instructions": "x"})
    path = address("audit", tenant)

    def found(query: dict[str, str]) -> list[str]:
        return [entry.action for entry in clients.admin.get(path, query).context["page"]]

    assert found({}) == ["project.update", "tenant.update"]
    assert found({"actor": "owner"}) == ["project.update"]
    assert found({"action": "tenant.update"}) == ["tenant.update"]
    assert found({"action": "tenant.update", "actor": "owner"}) == []
    assert clients.viewer.get(path).status_code == 403
