"""Who shares the platform: tenants, their members, their API keys."""

import uuid

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone

from tenants.scope import TenantManager


def default_strategy() -> str:
    return settings.ENV.strategy


def default_embedding_model() -> str:
    return settings.ENV.embedding_model


def default_key_scopes() -> list[str]:
    return [KeyScope.READ, KeyScope.WRITE, KeyScope.CHAT]


class Tenant(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=255)
    slug = models.SlugField(max_length=64, unique=True)
    strategy = models.CharField(
        max_length=64, default=default_strategy, help_text="How facts are encoded, e.g. neighbours(16)"
    )
    embedding_model = models.CharField(
        max_length=255,
        default=default_embedding_model,
        help_text="Whose vectors are compared; a job changes it to the configured one once all facts have theirs",
    )
    is_active = models.BooleanField(default=True)
    deleted_at = models.DateTimeField(
        null=True,
        blank=True,
        editable=False,
        help_text="When staff had it deleted: it stays until all that it had is gone",
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    class Meta:
        ordering = ("name",)
        constraints = (
            models.CheckConstraint(
                condition=models.Q(deleted_at=None) | models.Q(is_active=False), name="deleted_tenant_is_closed"
            ),
        )

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
        null=True, blank=True, help_text="Calls and chats; empty: as configured, 0: without limit"
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


class Quota(models.Model):
    """What the platform's operators let a tenant have. Empty: as much as it likes; so has a tenant without a row."""

    tenant = models.OneToOneField(Tenant, on_delete=models.CASCADE, primary_key=True, related_name="quota")
    facts = models.PositiveBigIntegerField(null=True, blank=True, help_text="Stored at a time, of all its users")
    chats_per_day = models.PositiveBigIntegerField(null=True, blank=True, help_text="Days are those of UTC")
    chats_per_month = models.PositiveBigIntegerField(null=True, blank=True)
    kv_disk_bytes = models.PositiveBigIntegerField(
        "KV bytes on disk", null=True, blank=True, help_text="Of all blobs; facts beyond are sent as text"
    )
    kv_host_bytes = models.PositiveBigIntegerField(
        "KV bytes in host memory", null=True, blank=True, help_text="On each rank; the least recently used leave it"
    )
    kv_gpu_bytes = models.PositiveBigIntegerField(
        "KV bytes in GPU memory", null=True, blank=True, help_text="On each rank; the least recently used leave it"
    )
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = TenantManager()

    def __str__(self) -> str:
        return f"quota of {self.tenant_id}"


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


class Invitation(models.Model):
    """Only the hash is stored; the link is shown once, to whoever made it, who passes it on."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="invitations")
    email = models.EmailField(blank=True, default="", help_text="Whom it is for; no account gets it")
    role = models.CharField(max_length=16, choices=Role, default=Role.VIEWER)
    hash = models.CharField(max_length=64, unique=True, editable=False)
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True, blank=True, editable=False)
    withdrawn_at = models.DateTimeField(null=True, blank=True, editable=False)
    created_by = models.CharField(max_length=255, blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = TenantManager()

    class Meta:
        ordering = ("-created_at",)

    def __str__(self) -> str:
        return f"{self.role} {self.email}"
