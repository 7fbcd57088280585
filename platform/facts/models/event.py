"""One call that changed memory, as the events endpoint reports it."""

import uuid

from django.db import models
from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import TenantManager


class EventStatus(models.TextChoices):
    PENDING = "PENDING"
    RUNNING = "RUNNING"
    FAILED = "FAILED"
    SUCCEEDED = "SUCCEEDED"


class Event(models.Model):
    """`results` names facts by id and never repeats their text, so that a deletion leaves none behind here."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="events")
    event_type = models.CharField(max_length=16)
    status = models.CharField(max_length=16, choices=EventStatus, default=EventStatus.PENDING)
    results = models.JSONField(default=list, blank=True)
    error = models.TextField(blank=True, default="")
    started_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = TenantManager()

    class Meta:
        indexes = (models.Index(fields=("tenant", "-created_at"), name="event_by_time"),)

    def __str__(self) -> str:
        return f"{self.event_type} {self.status}"
