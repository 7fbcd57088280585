"""A short text about a user."""

from django.db import models
from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import TenantManager


class ProfileStatus(models.TextChoices):
    PENDING = "pending"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    INSUFFICIENT = "insufficient_data"


class Profile(models.Model):
    """Made by a job; `text` stays that of the last job that succeeded."""

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="profiles")
    user_id = models.CharField(max_length=255)
    text = models.TextField(blank=True, default="")
    status = models.CharField(max_length=32, choices=ProfileStatus, default=ProfileStatus.PENDING)
    error = models.TextField(blank=True, default="")
    generation_count = models.IntegerField(default=0)
    updated_at = models.DateTimeField(default=timezone.now)

    objects = TenantManager()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("tenant", "user_id"), name="profile_once"),)

    def __str__(self) -> str:
        return f"{self.user_id} {self.status}"
