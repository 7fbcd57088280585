"""Who shares the platform: tenants, their members, their API keys."""

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from tenants.scope import TenantManager


def default_strategy() -> str:
    return settings.ENV.strategy


def default_key_scopes() -> list[str]:
    return [KeyScope.READ, KeyScope.WRITE, KeyScope.CHAT]


class Tenant(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=255)
    slug = models.SlugField(max_length=64, unique=True)
    strategy = models.CharField(
        max_length=64, default=default_strategy, help_text="How facts are encoded, e.g. neighbours(16)"
    )
    is_active = models.BooleanField(default=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("name",)

    def __str__(self) -> str:
        return self.name


class Role(models.TextChoices):
    OWNER = "owner"
    ADMIN = "admin"
    VIEWER = "viewer"


class Membership(models.Model):
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=16, choices=Role, default=Role.VIEWER)

    objects = TenantManager()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("user", "tenant"), name="membership_once"),)

    def __str__(self) -> str:
        return f"{self.user} is {self.role} of {self.tenant}"


class KeyScope(models.TextChoices):
    READ = "read"
    WRITE = "write"
    CHAT = "chat"
    ADMIN = "admin"


class ApiKey(models.Model):
    """Only the hash is stored; the key itself is shown once, when it is made."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="api_keys")
    name = models.CharField(max_length=255)
    prefix = models.CharField(max_length=12, editable=False)
    hash = models.CharField(max_length=64, unique=True, editable=False)
    scopes = ArrayField(models.CharField(max_length=16, choices=KeyScope), default=default_key_scopes)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True, editable=False)
    last_used_at = models.DateTimeField(null=True, blank=True, editable=False)
    user_field_enables_memory = models.BooleanField(default=True, help_text="OpenAI's user field alone turns memory on")
    requests_per_minute = models.PositiveIntegerField(
        null=True, blank=True, help_text="Calls of the memory API; empty: as configured, 0: without limit"
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = TenantManager()

    class Meta:
        verbose_name = "API key"
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class ProjectSettings(models.Model):
    """What a tenant says about its memory; a tenant without a row has the defaults."""

    tenant = models.OneToOneField(Tenant, on_delete=models.CASCADE, primary_key=True, related_name="project_settings")
    custom_instructions = models.TextField(blank=True, default="")
    agent_custom_instructions = models.TextField(blank=True, default="")
    custom_categories = models.JSONField(blank=True, default=list, help_text='Names, or {"name": "description"}')
    multilingual = models.BooleanField(default=True, help_text="Keep the language that was written")
    decay = models.BooleanField(default=False)
    memory_depth = models.CharField(max_length=255, blank=True, default="")
    usecase_setting = models.JSONField(null=True, blank=True)
    profiles_enabled = models.BooleanField(default=False)
    profile_schema = models.JSONField(null=True, blank=True)
    profile_instructions = models.TextField(blank=True, default="")
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = TenantManager()

    class Meta:
        verbose_name_plural = "project settings"

    def __str__(self) -> str:
        return f"settings of {self.tenant_id}"


class AuditEntry(models.Model):
    """One administrative action; nothing changes or deletes it but its tenant's own end."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="audit_entries")
    actor = models.CharField(max_length=255, help_text="key:<prefix> or user:<name>")
    action = models.CharField(max_length=64)
    target = models.CharField(max_length=255, blank=True, default="")
    details = models.JSONField(blank=True, default=dict)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = TenantManager()

    class Meta:
        verbose_name_plural = "audit trail"
        indexes = (models.Index(fields=("tenant", "-created_at"), name="audit_by_time"),)

    def __str__(self) -> str:
        return f"{self.actor} {self.action} {self.target}"
