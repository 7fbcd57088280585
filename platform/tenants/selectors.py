"""Reads on tenants and API keys."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection
from django.db.models import Q, QuerySet
from django.utils import timezone

from tenants.keys import KEY_PREFIX, key_hash
from tenants.models import ApiKey, AuditEntry, Membership, ProjectSettings, Tenant
from tenants.scope import every_tenant, tenant_scope

LAST_USED_STEP = timedelta(minutes=1)
KEY_FIELDS = ("id", "tenant_id", "prefix", "scopes", "last_used_at", "user_field_enables_memory", "requests_per_minute")
TENANT_FIELDS = ("id", "strategy")
# In SQL, for every request waits for it: building the query takes Django three times as long as running it.
LIVE_KEY = f"""
SELECT {", ".join(f"k.{name}" for name in KEY_FIELDS)}, {", ".join(f"t.{name}" for name in TENANT_FIELDS)}
FROM {ApiKey._meta.db_table} k JOIN {Tenant._meta.db_table} t ON t.id = k.tenant_id
WHERE k.hash = %s AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > %s) AND t.is_active
"""


def api_key_authenticate(*, raw: str) -> ApiKey | None:
    """The live key with its tenant; None when unknown, revoked, expired or its tenant is inactive.

    Other fields than those named above are read when somebody asks for them.
    """
    if not raw.startswith(KEY_PREFIX):
        return None
    now = timezone.now()
    with connection.cursor() as cursor:
        cursor.execute(LIVE_KEY, (key_hash(raw), now))
        row = cursor.fetchone()
    if row is None:
        return None
    api_key = ApiKey.from_db(connection.alias, KEY_FIELDS, row[: len(KEY_FIELDS)])
    api_key.tenant = Tenant.from_db(connection.alias, TENANT_FIELDS, row[len(KEY_FIELDS) :])
    if api_key.last_used_at is None or api_key.last_used_at < now - LAST_USED_STEP:
        _mark_used(api_key, now)
    return api_key


def _mark_used(api_key: ApiKey, now: datetime) -> None:
    unused = Q(last_used_at=None) | Q(last_used_at__lt=now - LAST_USED_STEP)
    with every_tenant():
        ApiKey.objects.filter(unused, pk=api_key.pk).update(last_used_at=now)
    api_key.last_used_at = now


def tenant_by_id(tenant_id: UUID | str) -> Tenant | None:
    """An active tenant."""
    return Tenant.objects.filter(pk=tenant_id, is_active=True).first()


def tenants_active() -> list[Tenant]:
    """The oldest first."""
    return list(Tenant.objects.filter(is_active=True).order_by("created_at", "pk"))


def project_settings(*, tenant: Tenant) -> ProjectSettings:
    """Unsaved defaults where nothing was ever set."""
    with tenant_scope(tenant):
        return ProjectSettings.objects.filter(tenant=tenant).first() or ProjectSettings(
            tenant=tenant, updated_at=tenant.created_at
        )


def members_list(*, tenant: Tenant) -> list[Membership]:
    with tenant_scope(tenant):
        return list(Membership.objects.select_related("user").order_by("user__username"))


def api_keys_list(*, tenant: Tenant) -> QuerySet[ApiKey]:
    """Newest first, revoked and expired ones too."""
    with tenant_scope(tenant):
        return ApiKey.objects.order_by("-created_at", "-pk")


def api_key_get(*, tenant: Tenant, key_id: UUID) -> ApiKey | None:
    with tenant_scope(tenant):
        return ApiKey.objects.select_related("tenant").filter(pk=key_id).first()


def audit_list(*, tenant: Tenant) -> QuerySet[AuditEntry]:
    """Newest first."""
    with tenant_scope(tenant):
        return AuditEntry.objects.order_by("-created_at", "-pk")
