"""Reads on webhooks and their deliveries."""

from django.db.models import QuerySet
from tenants.models import Tenant
from tenants.scope import tenant_scope

from webhooks.models import Delivery, Webhook


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
