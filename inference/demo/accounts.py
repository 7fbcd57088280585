"""Who the demo is for: a tenant, its key and its owner's login, made once."""

import secrets
from dataclasses import dataclass

from django.contrib.auth.models import User
from tenants.models import Role, Tenant
from tenants.services import api_key_create, membership_set, tenant_create

SLUG, LOGIN = "demo", "admin"


@dataclass(frozen=True)
class Credentials:
    """Shown once, when made; None afterwards."""

    api_key: str | None = None
    password: str | None = None


def demo_accounts() -> tuple[Tenant, Credentials]:
    if tenant := Tenant.objects.filter(slug=SLUG).first():
        return tenant, Credentials()
    password = secrets.token_urlsafe(12)
    user = User.objects.filter(username=LOGIN).first()
    made = user is None
    if user is None:
        user = User.objects.create_superuser(LOGIN, password=password)
    tenant = tenant_create(name="Demo", slug=SLUG)
    membership_set(tenant=tenant, user=user, role=Role.OWNER)
    _, raw = api_key_create(tenant=tenant, name="demo")
    return tenant, Credentials(raw, password if made else None)
