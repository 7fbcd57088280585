"""Tasks that tell tenants what happened to their memories."""

from typing import Any
from uuid import UUID

from config.celery import app
from django.conf import settings
from django.utils import timezone
from facts.enqueue import DELIVER
from facts.selectors import fact_get
from tenants.models import Tenant
from tenants.selectors import tenant_by_id
from webhooks.models import Delivery
from webhooks.sending import send
from webhooks.services import deliveries_send, delivery_record, delivery_take


@app.task(name=DELIVER)
def deliver(tenant_id: str, delivery_id: str) -> None:
    """One attempt. When it fails, the delivery says when it is due again, and beat sends it then."""
    tenant = tenant_by_id(tenant_id)
    delivery = delivery_take(tenant=tenant, delivery_id=UUID(delivery_id), now=timezone.now()) if tenant else None
    if tenant is None or delivery is None:
        return
    attempt = send(
        url=delivery.webhook.url,
        secret=delivery.webhook.secret,
        message_id=str(delivery.pk),
        payload=payload_of(tenant, delivery),
        private=settings.ENV.webhooks_to_private,
    )
    delivery.webhook.tenant = tenant
    delivery_record(delivery=delivery, attempt=attempt, now=timezone.now())


@app.task(name="workers.webhooks.deliver_due")
def deliver_due() -> None:
    deliveries_send(now=timezone.now())


def payload_of(tenant: Tenant, delivery: Delivery) -> dict[str, Any]:
    """The memory as it is now: null once it is gone, so that no text leaves after its deletion."""
    fact = fact_get(tenant=tenant, fact_id=delivery.fact_id)
    names = fact.scopes.named if fact else {}
    return {
        "event_details": {
            "id": str(delivery.fact_id),
            "data": {"memory": fact.text if fact else None},
            "event": delivery.event_type.removeprefix("memory_").upper(),
            **names,
        },
        "event_type": delivery.event_type,
        "event_id": str(delivery.event_id),
        "project_id": str(tenant.pk),
        "created_at": delivery.created_at.isoformat().replace("+00:00", "Z"),
    }
