"""What was done to a tenant's settings, keys, members and webhooks, and by whom."""

from typing import Any
from uuid import UUID

from tenants.models import AuditEntry, Tenant
from tenants.scope import tenant_scope


def audit_record(
    *, tenant: Tenant, actor: str, action: str, target: UUID | int | str = "", details: dict[str, Any] | None = None
) -> AuditEntry:
    """In the caller's transaction: what is rolled back was not done. `details` never hold secrets."""
    with tenant_scope(tenant):
        return AuditEntry.objects.create(
            tenant=tenant, actor=actor, action=action, target=str(target), details=details or {}
        )
