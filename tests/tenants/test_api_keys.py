from datetime import timedelta
from typing import Any

import pytest
from django.conf import settings
from django.utils import timezone
from tenants.models import ApiKey, Tenant
from tenants.scope import every_tenant
from tenants.selectors import api_key_authenticate
from tenants.services import api_key_create, api_key_revoke, tenant_create

pytestmark = pytest.mark.django_db


@pytest.fixture
def tenant() -> Tenant:
    return tenant_create(name="Home")


def test_a_key_opens_its_tenant_without_any_scope_being_open(tenant: Tenant) -> None:
    api_key, raw = api_key_create(tenant=tenant, name="app", scopes=["read", "chat"])
    found = api_key_authenticate(raw=raw)
    assert found is not None
    assert (found, found.tenant, found.scopes) == (api_key, tenant, ["chat", "read"])


def test_the_key_itself_is_stored_nowhere(tenant: Tenant) -> None:
    api_key, raw = api_key_create(tenant=tenant, name="app")
    assert raw.startswith("isk_")
    assert len(raw) == 4 + 43 + 8  # the last eight mark the tenant
    with every_tenant():
        row = ApiKey.objects.filter(pk=api_key.pk).values().get()
    assert row["prefix"] == raw[:12]
    assert not any(raw[12:] in str(value) for value in row.values())


@pytest.mark.parametrize("raw", ["", "isk_", "isk_" + "a" * 43, "sk-other", "isk_\ud800", "isk_\x00"])
def test_an_unknown_key_opens_nothing(tenant: Tenant, raw: str) -> None:
    api_key_create(tenant=tenant, name="app")
    assert api_key_authenticate(raw=raw) is None


def test_a_revoked_key_opens_nothing_and_keeps_the_time(tenant: Tenant) -> None:
    api_key, raw = api_key_create(tenant=tenant, name="app")
    api_key_revoke(api_key=api_key)
    revoked_at = api_key.revoked_at
    api_key_revoke(api_key=api_key)
    assert api_key_authenticate(raw=raw) is None
    assert revoked_at is not None
    assert api_key.revoked_at == revoked_at


def test_a_key_opens_until_it_expires(tenant: Tenant) -> None:
    now = timezone.now()
    _, live = api_key_create(tenant=tenant, name="live", expires_at=now + timedelta(hours=1))
    _, expired = api_key_create(tenant=tenant, name="expired", expires_at=now)
    assert api_key_authenticate(raw=live) is not None
    assert api_key_authenticate(raw=expired) is None


def test_a_key_of_an_inactive_tenant_opens_nothing(tenant: Tenant) -> None:
    _, raw = api_key_create(tenant=tenant, name="app")
    Tenant.objects.update(is_active=False)
    assert api_key_authenticate(raw=raw) is None


def test_use_is_noted_at_most_once_a_minute(tenant: Tenant) -> None:
    api_key, raw = api_key_create(tenant=tenant, name="app")
    api_key_authenticate(raw=raw)
    api_key.refresh_from_db()
    first = api_key.last_used_at
    api_key_authenticate(raw=raw)
    api_key.refresh_from_db()
    assert first is not None
    assert api_key.last_used_at == first
    with every_tenant():
        ApiKey.objects.update(last_used_at=first - timedelta(minutes=2))
    api_key_authenticate(raw=raw)
    api_key.refresh_from_db()
    assert api_key.last_used_at is not None
    assert api_key.last_used_at >= first


@pytest.mark.parametrize("scopes", [[], ["root"], ["read", "root"]])
def test_unknown_key_scopes_are_refused(tenant: Tenant, scopes: list[str]) -> None:
    with pytest.raises(ValueError, match="read, write, chat, admin"):
        api_key_create(tenant=tenant, name="app", scopes=scopes)


def test_the_environment_says_whether_the_user_field_alone_turns_memory_on(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    off: Any = settings.ENV.model_copy(update={"user_field_enables_memory": False})
    monkeypatch.setattr(settings, "ENV", off)
    assert not api_key_create(tenant=tenant, name="default")[0].user_field_enables_memory
    assert api_key_create(tenant=tenant, name="on", user_field_enables_memory=True)[0].user_field_enables_memory
