"""Reads on usage."""

from datetime import datetime

from django.db.models import QuerySet
from tenants.models import Tenant
from tenants.scope import tenant_scope

from usage.models import RequestRecord


def request_records(*, tenant: Tenant, since: datetime | None = None, owner_name: str = "") -> QuerySet[RequestRecord]:
    """Newest first."""
    with tenant_scope(tenant):
        records = RequestRecord.objects.order_by("-created_at")
        if since is not None:
            records = records.filter(created_at__gte=since)
        return records.filter(owner_name=owner_name) if owner_name else records
