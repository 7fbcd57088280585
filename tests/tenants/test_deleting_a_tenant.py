"""Staff have a closed tenant deleted; from then on it is nobody's, and nobody opens it again."""

import pytest
import redis
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission, User
from django.db import IntegrityError, transaction
from django.test import Client
from django.urls import reverse
from facts.enqueue import DELETE_TENANT
from tenants.access import access_get, tenants_of
from tenants.deletion import tenant_delete
from tenants.models import AuditEntry, Tenant
from tenants.scope import tenant_scope
from tenants.selectors import tenants_deleted
from tenants.services import tenant_close, tenant_reopen

from tests.factories import People, add_facts
from tests.workers.helpers import tasks_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def closed(people: People) -> Tenant:
    with tenant_scope(people.tenant):
        add_facts(people.tenant, "Alice keeps bees.", "Alice plays the cello.")
    tenant_close(tenant=people.tenant, actor="test")
    return people.tenant


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


@pytest.fixture
def staff() -> Client:
    return signed_in(User.objects.create_superuser("staff"))


def page(tenant: Tenant, name: str = "delete") -> str:
    return reverse(f"admin:tenants_tenant_{name}", args=[tenant.pk])


def is_deleted(tenant: Tenant) -> bool:
    return tenant in tenants_deleted()


def test_the_page_names_the_tenant_and_says_what_goes(closed: Tenant, staff: Client) -> None:
    assert page(closed) in staff.get(page(closed, "change")).content.decode()
    body = " ".join(staff.get(page(closed)).content.decode().split())
    assert 'delete the tenant "Home"' in body
    assert "Facts: 2" in body
    assert "Memberships: 2" in body
    assert not is_deleted(closed)


@pytest.mark.django_db(transaction=True)
def test_confirmed_it_is_left_to_the_workers_and_written_to_the_log(
    closed: Tenant, staff: Client, broker: redis.Redis, caplog: pytest.LogCaptureFixture
) -> None:
    said = staff.post(page(closed), {"post": "yes"}, follow=True).content.decode()
    assert "Home is being deleted" in said
    assert is_deleted(closed)
    assert tasks_in(broker, "default") == [(DELETE_TENANT, [str(closed.pk)])]
    assert f"user:staff has tenant {closed.pk}, Home, deleted" in caplog.text
    assert [(entry.object_repr, entry.is_deletion()) for entry in LogEntry.objects.all()] == [("Home", True)]
    with tenant_scope(closed):
        assert AuditEntry.objects.filter(actor="user:staff", action="tenant.delete").count() == 1


def test_it_is_ordered_once_and_changed_no_more(closed: Tenant, staff: Client) -> None:
    assert tenant_delete(tenant=closed, actor="test")
    assert not tenant_delete(tenant=closed, actor="test")
    assert staff.post(page(closed), {"post": "yes"}).status_code == 403
    assert staff.get(page(closed, "change")).status_code == 200
    assert staff.post(page(closed, "change"), {"name": "Other", "is_active": "on"}).status_code == 403


def test_an_open_tenant_is_not_deleted(people: People, staff: Client) -> None:
    assert page(people.tenant) not in staff.get(page(people.tenant, "change")).content.decode()
    assert staff.get(page(people.tenant)).status_code == 403
    assert staff.post(page(people.tenant), {"post": "yes"}).status_code == 403
    assert not tenant_delete(tenant=people.tenant, actor="test")
    assert tenants_deleted() == []


def test_many_at_once_are_not_deleted(closed: Tenant, staff: Client) -> None:
    chosen = {"action": "delete_selected", "_selected_action": [closed.pk], "post": "yes"}
    staff.post(reverse("admin:tenants_tenant_changelist"), chosen)
    assert tenants_deleted() == []


def test_staff_need_the_permission(closed: Tenant, people: People) -> None:
    some = User.objects.create_user("some", is_staff=True)
    some.user_permissions.set(Permission.objects.filter(codename__in=("view_tenant", "change_tenant")))
    assert signed_in(some).post(page(closed), {"post": "yes"}).status_code == 403
    assert signed_in(people.owner).post(page(closed), {"post": "yes"}).status_code == 302
    assert not is_deleted(closed)
    some.user_permissions.add(Permission.objects.get(codename="delete_tenant"))
    assert signed_in(some).post(page(closed), {"post": "yes"}).status_code == 302
    assert is_deleted(closed)


def test_it_is_nobodys_any_more(closed: Tenant, people: People, staff: Client) -> None:
    everybody = [people.owner, people.member, User.objects.get(username="staff")]
    assert all(closed in tenants_of(user) for user in everybody)
    tenant_delete(tenant=closed, actor="test")
    assert not any(closed in tenants_of(user) for user in everybody)
    assert [access_get(user=user, slug=closed.slug) for user in everybody] == [None] * 3
    assert people.other_tenant in tenants_of(people.stranger)
    assert staff.get(reverse("dashboard:overview", args=[closed.slug])).status_code == 404


def test_nobody_opens_it_again(closed: Tenant) -> None:
    tenant_delete(tenant=closed, actor="test")
    tenant_reopen(tenant=closed, actor="test")
    closed.refresh_from_db()
    assert not closed.is_active
    with tenant_scope(closed):
        assert not AuditEntry.objects.filter(action="project.reopen").exists()
    with pytest.raises(IntegrityError), transaction.atomic():
        Tenant.objects.filter(pk=closed.pk).update(is_active=True)


def test_staff_find_the_way_from_the_dashboard(closed: Tenant, people: People, staff: Client) -> None:
    settings = reverse("dashboard:settings", args=[closed.slug])
    assert page(closed) in staff.get(settings).content.decode()
    assert page(closed) not in signed_in(people.owner).get(settings).content.decode()
