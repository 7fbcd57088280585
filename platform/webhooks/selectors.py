"""Reads on webhooks and their deliveries."""

from datetime import datetime
from uuid import UUID

from django.db.models import QuerySet
from tenants.models import Tenant
from tenants.scope import every_tenant, tenant_scope

from webhooks.models import Delivery, DeliveryState, Webhook


def webhooks_list(*, tenant: Tenant) -> list[Webhook]:
    """Newest first."""
    with tenant_scope(tenant):
        return list(Webhook.objects.order_by("-created_at", "-pk"))


def webhook_get(*, tenant: Tenant, webhook_id: int) -> Webhook | None:
    with tenant_scope(tenant):
        return Webhook.objects.select_related("tenant").filter(pk=webhook_id).first()


def deliveries_list(*, webhook: Webhook) -> QuerySet[Delivery]:
    """Newest first."""
    with tenant_scope(webhook.tenant):
        return Delivery.objects.filter(webhook=webhook).order_by("-created_at", "-pk")


def deliveries_due(*, now: datetime, limit: int = 1000) -> list[tuple[UUID, UUID]]:
    """Tenant and delivery of those that nobody is sending, the longest due first."""
    with every_tenant():
        due = Delivery.objects.filter(state=DeliveryState.PENDING, next_at__lte=now, tenant__is_active=True)
        return list(due.order_by("next_at", "pk").values_list("tenant_id", "pk")[:limit])
