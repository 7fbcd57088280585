"""Writes on webhooks and their deliveries."""

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from facts.enqueue import DELIVER, enqueue_many
from tenants.audit import audit_record
from tenants.models import Tenant
from tenants.scope import every_tenant, tenant_scope

from webhooks.models import Delivery, DeliveryState, EventType, Webhook
from webhooks.sending import SECONDS_TO_WAIT, Attempt
from webhooks.signing import new_secret

MAX_WEBHOOKS = 20
MAX_ATTEMPTS = 12
FIRST_DELAY, LONGEST_DELAY = timedelta(seconds=5), timedelta(hours=6)  # together about a day
LEASE = 4 * timedelta(seconds=SECONDS_TO_WAIT)  # an attempt has ended long before
QUEUED = timedelta(minutes=10)  # then a message is taken for lost, and a second one does no harm
AT_ONCE = 1000
KEPT = timedelta(days=30)
TYPE_OF = {"ADD": EventType.ADD, "UPDATE": EventType.UPDATE, "DELETE": EventType.DELETE}


class TooManyWebhooksError(ValueError):
    """The tenant has as many as it may have."""


@transaction.atomic
def webhook_create(*, tenant: Tenant, url: str, name: str, event_types: Sequence[str], actor: str) -> Webhook:
    """Its `secret` is shown to whoever makes it. Raises TooManyWebhooksError."""
    Tenant.objects.select_for_update(no_key=True).get(pk=tenant.pk)
    with tenant_scope(tenant):
        if Webhook.objects.count() >= MAX_WEBHOOKS:
            raise TooManyWebhooksError(f"A project has at most {MAX_WEBHOOKS} webhooks: delete one first.")
        webhook = Webhook.objects.create(
            tenant=tenant, url=url, name=name, event_types=sorted(set(event_types)), secret=new_secret()
        )
    audit_record(tenant=tenant, actor=actor, action="webhook.create", target=webhook.pk, details={"url": url})
    return webhook


@transaction.atomic
def webhook_update(*, webhook: Webhook, changes: dict[str, Any], actor: str) -> Webhook:
    """Of url, name, event_types, is_active those named."""
    for name, value in changes.items():
        setattr(webhook, name, value)
    webhook.updated_at = timezone.now()
    with tenant_scope(webhook.tenant):
        webhook.save(update_fields=[*changes, "updated_at"])
    details = {"fields": sorted(changes)}
    audit_record(tenant=webhook.tenant, actor=actor, action="webhook.update", target=webhook.pk, details=details)
    return webhook


@transaction.atomic
def webhook_delete(*, webhook: Webhook, actor: str) -> None:
    """With its log; what is still to be delivered is not."""
    with tenant_scope(webhook.tenant):
        audit_record(tenant=webhook.tenant, actor=actor, action="webhook.delete", target=webhook.pk)
        webhook.delete()


def deliveries_create(*, tenant_id: UUID, event_id: UUID, results: Sequence[dict[str, str]]) -> None:
    """A message a change and webhook that wants it, in the transaction of the change. Sent to the workers on commit.

    `results`: an event's, {"id": fact, "event": "ADD" | "UPDATE" | "DELETE" | "NONE"}. Runs in the tenant's scope.
    """
    changes = [(UUID(result["id"]), TYPE_OF[result["event"]]) for result in results if result["event"] in TYPE_OF]
    webhooks = list(Webhook.objects.filter(is_active=True)) if changes else []
    common = {"tenant_id": tenant_id, "event_id": event_id, "queued_until": timezone.now() + QUEUED}
    deliveries = [
        Delivery(webhook=webhook, event_type=event_type, fact_id=fact_id, **common)
        for webhook in webhooks
        for fact_id, event_type in changes
        if event_type in webhook.event_types
    ]
    if deliveries:
        Delivery.objects.bulk_create(deliveries, batch_size=1000)
        transaction.on_commit(partial(_send, deliveries), robust=True)


def deliveries_send(*, now: datetime) -> None:
    """To the workers, the longest due first: what failed before, and what was lost or had no room in the queue."""
    told = Q(queued_until__gt=now)
    with every_tenant(), transaction.atomic():
        due = Delivery.objects.filter(~told, state=DeliveryState.PENDING, next_at__lte=now, tenant__is_active=True)
        nobodys = due.select_for_update(of=("self",), skip_locked=True).only("pk", "tenant_id")
        deliveries = list(nobodys.order_by("next_at", "pk")[:AT_ONCE])
        ids = [delivery.pk for delivery in deliveries]
        Delivery.objects.filter(pk__in=ids).update(queued_until=now + QUEUED)
    _send(deliveries)


def delivery_take(*, tenant: Tenant, delivery_id: UUID, now: datetime) -> Delivery | None:
    """The delivery, for the caller alone to send; None when it is not due, somebody else's or gone."""
    with tenant_scope(tenant):
        due = Delivery.objects.filter(pk=delivery_id, state=DeliveryState.PENDING, next_at__lte=now)
        if not due.update(next_at=now + LEASE, queued_until=None, attempts=F("attempts") + 1):
            return None
        return Delivery.objects.select_related("webhook").filter(pk=delivery_id).first()


def delivery_record(*, delivery: Delivery, attempt: Attempt, now: datetime) -> None:
    """Delivered, due again later, or given up after the last attempt."""
    fields: dict[str, Any] = {"status": attempt.status, "error": attempt.error}
    if not attempt.error:
        fields |= {"state": DeliveryState.DELIVERED, "delivered_at": now}
    elif delivery.attempts >= MAX_ATTEMPTS:
        fields |= {"state": DeliveryState.FAILED}
    else:
        fields |= {"next_at": now + delay(delivery.attempts)}
    with tenant_scope(delivery.webhook.tenant):
        Delivery.objects.filter(pk=delivery.pk, state=DeliveryState.PENDING).update(**fields)


def delay(attempts: int) -> timedelta:
    """After so many attempts: exponential, with jitter so that messages that failed together do not return together."""
    longest: timedelta = min(LONGEST_DELAY, FIRST_DELAY * int(3 ** max(0, attempts - 1)))
    return longest * random.uniform(0.5, 1.0)


def deliveries_expire(*, now: datetime) -> int:
    with every_tenant():
        return Delivery.objects.filter(created_at__lt=now - KEPT).delete()[0]


def _send(deliveries: Sequence[Delivery]) -> None:
    """What the broker does not take now is sent when next somebody looks."""
    sent = enqueue_many(DELIVER, [(delivery.tenant_id, delivery.pk) for delivery in deliveries])
    if left := [delivery.pk for delivery in deliveries[sent:]]:
        with every_tenant():
            Delivery.objects.filter(pk__in=left).update(queued_until=None)
