"""Reads on tenants and API keys."""

from datetime import timedelta
from uuid import UUID

from django.db.models import Q
from django.utils import timezone

from tenants.keys import KEY_PREFIX, key_hash
from tenants.models import ApiKey, Tenant
from tenants.scope import every_tenant

LAST_USED_STEP = timedelta(minutes=1)


def api_key_authenticate(*, raw: str) -> ApiKey | None:
    """The live key with its tenant loaded; None when unknown, revoked, expired or its tenant is inactive."""
    if not raw.startswith(KEY_PREFIX):
        return None
    now = timezone.now()
    with every_tenant():
        live = Q(expires_at=None) | Q(expires_at__gt=now)
        keys = ApiKey.objects.select_related("tenant").filter(live, revoked_at=None, tenant__is_active=True)
        api_key = keys.filter(hash=key_hash(raw)).first()
        if api_key is None:
            return None
        unused = Q(last_used_at=None) | Q(last_used_at__lt=now - LAST_USED_STEP)
        if api_key.last_used_at is None or api_key.last_used_at < now - LAST_USED_STEP:
            ApiKey.objects.filter(unused, pk=api_key.pk).update(last_used_at=now)
            api_key.last_used_at = now
    return api_key


def tenant_by_id(tenant_id: UUID | str) -> Tenant | None:
    """An active tenant."""
    return Tenant.objects.filter(pk=tenant_id, is_active=True).first()


def tenants_active() -> list[Tenant]:
    """The oldest first."""
    return list(Tenant.objects.filter(is_active=True).order_by("created_at", "pk"))
