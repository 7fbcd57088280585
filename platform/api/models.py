"""Answers kept for clients that send a request again."""

import uuid

from django.db import models
from django.utils import timezone
from tenants.models import ApiKey, Tenant
from tenants.scope import TenantManager


class KeptAnswer(models.Model):
    """The answer to a request that came with an `Idempotency-Key`, written in the transaction of what it did."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="kept_answers")
    api_key = models.ForeignKey(ApiKey, on_delete=models.CASCADE, related_name="kept_answers")
    key = models.CharField(max_length=255)
    fingerprint = models.CharField(max_length=64, help_text="SHA-256 of method, path, query and body")
    status = models.PositiveSmallIntegerField(default=0)
    body = models.TextField(default="")
    created_at = models.DateTimeField(default=timezone.now, editable=False, db_index=True)

    objects = TenantManager()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("api_key", "key"), name="kept_answer_once"),)

    def __str__(self) -> str:
        return f"{self.status} {self.key}"
