"""What a caller thinks of a memory."""

import uuid

from django.db import models
from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import TenantManager

from facts.models.fact import Fact


class Verdict(models.TextChoices):
    POSITIVE = "POSITIVE"
    NEGATIVE = "NEGATIVE"
    VERY_NEGATIVE = "VERY_NEGATIVE"


class Feedback(models.Model):
    """One caller's latest word on one memory."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="feedback")
    fact = models.ForeignKey(Fact, on_delete=models.CASCADE, related_name="feedback")
    actor = models.CharField(max_length=255)
    verdict = models.CharField(max_length=16, choices=Verdict)
    reason = models.TextField(blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = TenantManager()

    class Meta:
        verbose_name_plural = "feedback"
        constraints = (models.UniqueConstraint(fields=("fact", "actor"), name="feedback_once"),)

    def __str__(self) -> str:
        return f"{self.verdict} {self.fact_id}"
