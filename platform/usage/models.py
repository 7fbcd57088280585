"""What each chat request did and cost."""

import uuid

from django.db import models
from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import TenantManager


class Mode(models.TextChoices):
    NONE = "none"
    PROMPT = "prompt"
    INJECT = "inject"


class RequestRecord(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="request_records")
    owner_name = models.CharField(max_length=255, blank=True, default="")
    mode = models.CharField(max_length=8, choices=Mode)
    ttft_ms = models.FloatField(null=True, blank=True)
    total_ms = models.FloatField(null=True, blank=True)
    retrieval_ms = models.FloatField(null=True, blank=True)
    prompt_tokens = models.IntegerField(default=0)
    tokens_injected_planned = models.IntegerField(default=0)
    cached_tokens = models.IntegerField(null=True, blank=True)
    output_tokens = models.IntegerField(default=0)
    facts = models.IntegerField(default=0)
    status = models.IntegerField(help_text="HTTP status; 499 when the client left")
    model = models.CharField(max_length=255, blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)
    request_id = models.CharField(max_length=128, blank=True, default="")

    objects = TenantManager()

    class Meta:
        indexes = (models.Index(fields=("tenant", "-created_at"), name="request_by_time"),)

    def __str__(self) -> str:
        return f"{self.mode} {self.request_id}"
