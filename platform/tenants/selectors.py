"""Reads on tenants and API keys."""

from datetime import datetime, timedelta
from uuid import UUID

from django.db import connection
from django.db.models import Q, QuerySet
from django.utils import timezone

from tenants.keys import KEY_PREFIX, key_hash
from tenants.models import ApiKey, AuditEntry, Membership, ProjectSettings, Quota, Tenant
from tenants.scope import every_tenant, tenant_scope

LAST_USED_STEP = timedelta(minutes=1)
KEY_FIELDS = ("id", "tenant_id", "prefix", "scopes", "last_used_at", "user_field_enables_memory", "requests_per_minute")
TENANT_FIELDS = ("id", "strategy", "embedding_model")
QUOTA_FIELDS = tuple(field.attname for field in Quota._meta.concrete_fields)
# In SQL, for every request waits for it: building the query takes Django three times as long as running it.
LIVE_KEY = f"""
SELECT {", ".join(f"k.{name}" for name in KEY_FIELDS)}, {", ".join(f"t.{name}" for name in TENANT_FIELDS)},
    {", ".join(f"q.{name}" for name in QUOTA_FIELDS)}
FROM {ApiKey._meta.db_table} k JOIN {Tenant._meta.db_table} t ON t.id = k.tenant_id
LEFT JOIN {Quota._meta.db_table} q ON q.tenant_id = t.id
WHERE k.hash = %s AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > %s) AND t.is_active
"""


def api_key_authenticate(*, raw: str) -> ApiKey | None:
    """The live key with its tenant and quota; None when unknown, revoked, expired or its tenant is inactive.

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
    tenant_row, quota_row = row[len(KEY_FIELDS) : -len(QUOTA_FIELDS)], row[-len(QUOTA_FIELDS) :]
    api_key.tenant = Tenant.from_db(connection.alias, TENANT_FIELDS, tenant_row)
    has_quota = quota_row[QUOTA_FIELDS.index("tenant_id")] is not None
    quota = Quota.from_db(connection.alias, QUOTA_FIELDS, quota_row) if has_quota else Quota()
    quota.tenant = api_key.tenant  # who has the tenant now has its quota
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


def tenant_known(tenant_id: UUID | str) -> Tenant | None:
    """Active or paused."""
    return Tenant.objects.filter(pk=tenant_id).first()


def tenants_paused() -> list[Tenant]:
    return list(Tenant.objects.filter(is_active=False).order_by("created_at", "pk"))


def tenants_active() -> list[Tenant]:
    """The oldest first."""
    return list(Tenant.objects.filter(is_active=True).order_by("created_at", "pk"))


def tenant_deleted(tenant_id: UUID | str) -> Tenant | None:
    """One whose deletion was ordered."""
    return Tenant.objects.filter(pk=tenant_id).exclude(deleted_at=None).first()


def tenants_deleted() -> list[Tenant]:
    """Those whose deletion was ordered and is not over, the earliest order first."""
    return list(Tenant.objects.exclude(deleted_at=None).order_by("deleted_at", "pk"))


def project_settings(*, tenant: Tenant) -> ProjectSettings:
    """Unsaved defaults where nothing was ever set."""
    with tenant_scope(tenant):
        return ProjectSettings.objects.filter(tenant=tenant).first() or ProjectSettings(
            tenant=tenant, updated_at=tenant.created_at
        )


def tenant_quota(*, tenant: Tenant) -> Quota:
    """Without limits where nothing was ever set."""
    try:
        return tenant.quota
    except Quota.DoesNotExist:
        return Quota(tenant=tenant)


def quotas_all() -> list[Quota]:
    """Of active tenants that have one, the oldest tenant first."""
    with every_tenant():
        quotas = Quota.objects.filter(tenant__is_active=True)
        return list(quotas.order_by("tenant__created_at", "pk"))


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


def audit_list(*, tenant: Tenant, actor: str = "", action: str = "") -> QuerySet[AuditEntry]:
    """Newest first; of actors whose name contains `actor`, of one action."""
    with tenant_scope(tenant):
        entries = AuditEntry.objects.order_by("-created_at", "-pk")
        if actor:
            entries = entries.filter(actor__icontains=actor)
        return entries.filter(action=action) if action else entries


def audit_actions(*, tenant: Tenant) -> list[str]:
    """Those that were ever done, by name."""
    with tenant_scope(tenant):
        return list(AuditEntry.objects.order_by("action").values_list("action", flat=True).distinct())
