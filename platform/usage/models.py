"""What each chat request did and cost, which owners are active, how full the tiers are."""

import uuid

from django.db import models
from django.utils import timezone
from facts.models import Owner
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


class Residence(models.TextChoices):
    WAITING = "waiting", "Active, to be promoted"
    MEMORY = "memory", "Promoted"
    DISK = "disk", "Moved to disk"


class OwnerActivity(models.Model):
    """When an owner last chatted or was told something, and what was done with its blobs since.

    Where they lie in fact is the engine's knowledge: it may have evicted them, or loaded them for a chat.
    """

    owner = models.OneToOneField(Owner, on_delete=models.CASCADE, primary_key=True, related_name="activity")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="owner_activity")
    active_at = models.DateTimeField(db_index=True)
    residence = models.CharField(max_length=8, choices=Residence, default=Residence.WAITING)

    objects = TenantManager()

    class Meta:
        verbose_name_plural = "owner activity"
        indexes = (models.Index(fields=("residence", "active_at"), name="activity_by_residence"),)

    def __str__(self) -> str:
        return f"{self.owner_id} {self.residence}"


class TierSample(models.Model):
    """One tier of the engine's memory at one time; `bytes` are those of one rank. It is the platform's, not a tenant's.

    Counts are totals since the engine's start, so that a missed sample loses nothing: a total lower than the one
    before says that the engine started again. `tier_history` makes differences of them.
    """

    time = models.DateTimeField(default=timezone.now, db_index=True)
    tier = models.CharField(max_length=8, help_text="gpu or host")
    bytes = models.BigIntegerField()
    bytes_used = models.BigIntegerField()
    hits = models.BigIntegerField(help_text="Blobs used from this tier")
    filled = models.BigIntegerField(help_text="Blobs that came into it")
    evicted = models.BigIntegerField(help_text="Blobs that left it to make room")
    lost = models.BigIntegerField(help_text="Blobs that could not be read, whichever tier they were for")

    def __str__(self) -> str:
        return f"{self.tier} {self.time:%Y-%m-%d %H:%M}"
