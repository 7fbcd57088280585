"""Keys are made, shown once, and revoked."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone
from tenants.models import ApiKey, AuditEntry, Tenant
from tenants.selectors import api_key_authenticate
from tenants.services import api_key_create

from tests.factories import People
from tests.frontend.conftest import Clients, queries


def keys(tenant: Tenant) -> str:
    return reverse("dashboard:keys", args=[tenant.slug])


FORM: dict[str, Any] = {"name": "app", "scopes": ["read", "chat"], "life": "30", "requests_per_minute": "120"}


def test_a_key_is_shown_once_and_works(people: People, tenant: Tenant, clients: Clients) -> None:
    made = clients.admin.post(keys(tenant), FORM)
    assert made.status_code == 201
    (raw,) = re.findall(r"isk_[\w-]{20,}", made.content.decode())
    api_key = api_key_authenticate(raw=raw)
    assert api_key is not None
    assert (api_key.name, sorted(api_key.scopes), api_key.requests_per_minute) == ("app", ["chat", "read"], 120)
    assert api_key.expires_at is not None
    assert abs(api_key.expires_at - timezone.now() - timedelta(days=30)) < timedelta(minutes=1)
    page = clients.viewer.get(keys(tenant)).content.decode()
    assert raw not in page
    assert api_key.prefix in page


@pytest.mark.parametrize(
    ("change", "field"),
    [({"name": " "}, "name"), ({"scopes": []}, "scopes"), ({"scopes": ["all"]}, "scopes"), ({"life": "3"}, "life")],
)
def test_a_bad_form_makes_no_key(change: dict[str, Any], field: str, tenant: Tenant, clients: Clients) -> None:
    answer = clients.admin.post(keys(tenant), {**FORM, **change})
    assert (answer.status_code, field in answer.context["form"].errors) == (400, True)
    assert not ApiKey.objects.exists()


def test_who_is_no_owner_makes_no_key_that_could_make_one(tenant: Tenant, clients: Clients) -> None:
    """A key with the scope `admin` sets members' roles and closes the project."""
    form = {**FORM, "scopes": ["read", "admin"]}
    answer = clients.admin.post(keys(tenant), form)
    assert (answer.status_code, "scopes" in answer.context["form"].errors) == (400, True)
    offered = 'value="admin"'
    assert offered not in clients.admin.get(keys(tenant)).content.decode()
    assert offered in clients.owner.get(keys(tenant)).content.decode()
    assert clients.owner.post(keys(tenant), form).status_code == 201
    assert set(ApiKey.objects.get().scopes) == {"read", "admin"}


def test_a_revoked_key_works_no_more_and_stays_in_the_list(tenant: Tenant, clients: Clients) -> None:
    api_key, raw = api_key_create(tenant=tenant, name="old")
    path = reverse("dashboard:key-revoke", args=[tenant.slug, api_key.pk])
    assert clients.admin.post(path, follow=True).status_code == 200
    assert api_key_authenticate(raw=raw) is None
    assert "revoked" in clients.viewer.get(keys(tenant)).content.decode()
    assert AuditEntry.objects.get(action="key.revoke").actor == "user:admin"


def test_another_tenants_key_is_not_there(people: People, clients: Clients) -> None:
    api_key, raw = api_key_create(tenant=people.other_tenant, name="theirs")
    path = reverse("dashboard:key-revoke", args=[people.tenant.slug, api_key.pk])
    assert clients.owner.post(path).status_code == 404
    assert api_key_authenticate(raw=raw) is not None


def test_a_viewer_sees_no_form(tenant: Tenant, clients: Clients) -> None:
    api_key_create(tenant=tenant, name="app")
    page = clients.viewer.get(keys(tenant)).content.decode()
    assert "Make a key" not in page
    assert "key-revoke" not in page


def test_many_keys_cost_as_many_queries_as_one(tenant: Tenant, clients: Clients) -> None:
    api_key_create(tenant=tenant, name="app")
    before = queries(clients.viewer, keys(tenant))
    for i in range(60):
        api_key_create(tenant=tenant, name=f"app {i}")
    assert queries(clients.viewer, keys(tenant)) == before <= 8
