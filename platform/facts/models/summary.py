"""A short text about the memories that meet a filter."""

from django.db import models
from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import TenantManager

from facts.models.profile import ProfileStatus


class Summary(models.Model):
    """Made by a job; `text` stays that of the last job that succeeded. A deletion of any memory takes the row away."""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="summaries")
    asked = models.CharField(max_length=64, help_text="SHA-256 of what the call asked for")
    text = models.TextField(blank=True, default="")
    made_of = models.CharField(max_length=64, blank=True, default="", help_text="SHA-256 of the memories in `text`")
    status = models.CharField(max_length=32, choices=ProfileStatus, default=ProfileStatus.PENDING)
    error = models.TextField(blank=True, default="")
    updated_at = models.DateTimeField(default=timezone.now)

    objects = TenantManager()

    class Meta:
        verbose_name_plural = "summaries"
        constraints = (models.UniqueConstraint(fields=("tenant", "asked"), name="summary_once"),)

    def __str__(self) -> str:
        return f"summary {self.status}"
