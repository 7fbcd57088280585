"""Where a tenant wants to be told what happens to its memories, and what became of each message."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import TenantManager


class EventType(models.TextChoices):
    ADD = "memory_add"
    UPDATE = "memory_update"
    DELETE = "memory_delete"
    CATEGORIZE = "memory_categorize"


class Webhook(models.Model):
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=2048)
    name = models.CharField(max_length=255)
    event_types = ArrayField(models.CharField(max_length=32, choices=EventType))
    secret = models.CharField(max_length=64, editable=False)
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = TenantManager()

    class Meta:
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return f"{self.name} → {self.url}"


class DeliveryState(models.TextChoices):
    PENDING = "pending"
    DELIVERED = "delivered"
    FAILED = "failed"


class Delivery(models.Model):
    """One message about one memory to one webhook. It names the memory and never repeats its text.

    A pending one is due at `next_at`; whoever moves `next_at` on by a conditional update may send it. Until
    `queued_until` the workers have been told of it and are not told again.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="deliveries")
    webhook = models.ForeignKey(Webhook, on_delete=models.CASCADE, related_name="deliveries")
    event_id = models.UUIDField()
    event_type = models.CharField(max_length=32, choices=EventType)
    fact_id = models.UUIDField()
    state = models.CharField(max_length=16, choices=DeliveryState, default=DeliveryState.PENDING)
    attempts = models.IntegerField(default=0)
    status = models.IntegerField(null=True, blank=True, help_text="HTTP status of the last answer")
    error = models.TextField(blank=True, default="")
    next_at = models.DateTimeField(default=timezone.now)
    queued_until = models.DateTimeField(null=True, blank=True, editable=False)
    delivered_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = TenantManager()

    class Meta:
        verbose_name_plural = "deliveries"
        indexes = (
            models.Index(fields=("next_at",), condition=models.Q(state="pending"), name="delivery_due"),
            models.Index(fields=("webhook", "-created_at"), name="delivery_by_webhook"),
            models.Index(fields=("created_at",), name="delivery_by_time"),
        )

    def __str__(self) -> str:
        return f"{self.event_type} {self.state}"
