"""What each chat request did and cost, by itself and rolled up; which owners are active, how full the tiers are."""

import uuid

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from facts.models import Fact, Owner
from tenants.models import Tenant
from tenants.scope import TenantManager


class Mode(models.TextChoices):
    NONE = "none"
    PROMPT = "prompt"
    INJECT = "inject"


class RequestRecord(models.Model):
    """`fact_ids` in the order of the prompt: the first `facts_injected` were to be injected, the others were text.

    Both are None for records that were written before facts were noted.
    """

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
    fact_ids = ArrayField(models.UUIDField(), null=True, blank=True)
    facts_injected = models.IntegerField(null=True, blank=True)
    status = models.IntegerField(help_text="HTTP status; 499 when the client left")
    model = models.CharField(max_length=255, blank=True, default="")
    created_at = models.DateTimeField(default=timezone.now)
    request_id = models.CharField(max_length=128, blank=True, default="")

    objects = TenantManager()

    class Meta:
        indexes = (
            models.Index(fields=("tenant", "-created_at"), name="request_by_time"),
            models.Index(fields=("-created_at",), name="request_by_time_alone"),
            models.Index(fields=("tenant", "owner_name", "-created_at"), name="request_by_owner"),
            models.Index(fields=("tenant", "request_id"), name="request_by_id"),
        )

    def __str__(self) -> str:
        return f"{self.mode} {self.request_id}"


class Residence(models.TextChoices):
    WAITING = "waiting", "Active, to be promoted"
    MEMORY = "memory", "Promoted"
    LEAVING = "leaving", "To be moved to disk"
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


class FactInjection(models.Model):
    """When a chat last injected a fact, an hour late at most while it is injected often.

    A table of its own: facts are long rows that others wait for.
    """

    fact = models.OneToOneField(Fact, on_delete=models.CASCADE, primary_key=True, related_name="injection")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="fact_injections")
    injected_at = models.DateTimeField()

    objects = TenantManager()

    def __str__(self) -> str:
        return f"{self.fact_id} {self.injected_at:%Y-%m-%d %H:%M}"


class TierSample(models.Model):
    """One tier at one time. It is the platform's, not a tenant's. `bytes` of the engine's memory are those of one rank;
    of the disk they are what is free and what blobs take.

    Counts are totals since the engine's start, so that a missed sample loses nothing: a total lower than the one
    before says that the engine started again. `tier_traffic` makes differences of them.
    """

    time = models.DateTimeField(default=timezone.now, db_index=True)
    tier = models.CharField(max_length=8, help_text="gpu, host or disk")
    bytes = models.BigIntegerField(help_text="0 where there is no bound, as for an object store")
    bytes_used = models.BigIntegerField()
    hits = models.BigIntegerField(help_text="Blobs used from this tier")
    filled = models.BigIntegerField(help_text="Blobs that came into it")
    evicted = models.BigIntegerField(help_text="Blobs that left it to make room")
    lost = models.BigIntegerField(help_text="Blobs that could not be read, whichever tier they were for")
    blobs = models.BigIntegerField(default=0, db_default=0, help_text="In it")
    lookups = models.BigIntegerField(
        default=0, db_default=0, help_text="Blobs that requests came for and no nearer tier had"
    )
    found = models.BigIntegerField(default=0, db_default=0, help_text="Those of them that lay in it")

    def __str__(self) -> str:
        return f"{self.tier} {self.time:%Y-%m-%d %H:%M}"


class TierHolding(models.Model):
    """What the engine had of an owner in one tier of its memory when it was asked last. Replaced at every sample.

    `bytes` are those of whole blobs, as on disk.
    """

    owner = models.ForeignKey(Owner, on_delete=models.CASCADE, related_name="tier_holdings")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="tier_holdings")
    tier = models.CharField(max_length=8, help_text="gpu or host")
    blobs = models.BigIntegerField()
    bytes = models.BigIntegerField()

    objects = TenantManager()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("owner", "tier"), name="tier_holding_once"),)

    def __str__(self) -> str:
        return f"{self.owner_id} {self.tier}"


class RollUp(models.Model):
    """The requests of one mode that began in `seconds` from `start` on; those of all tenants where `tenant` is None.

    Minutes are kept for two days, hours for good. `ttft` is a Histogram's bytes.
    """

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, null=True, related_name="roll_ups")
    seconds = models.IntegerField()
    start = models.DateTimeField()
    mode = models.CharField(max_length=8, choices=Mode)
    requests = models.BigIntegerField()
    refused = models.BigIntegerField(help_text="Answered with 4xx, but for those whose client left")
    failed = models.BigIntegerField(help_text="Answered with 5xx")
    prompt_tokens = models.BigIntegerField()
    injected_tokens = models.BigIntegerField(help_text="As planned")
    output_tokens = models.BigIntegerField()
    ttft = models.BinaryField()

    objects = TenantManager()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("tenant", "seconds", "start", "mode"), nulls_distinct=False, name="roll_up_once"
            ),
        )
        indexes = (models.Index(fields=("seconds", "start"), name="roll_up_by_start"),)

    def __str__(self) -> str:
        return f"{self.mode} {self.start:%Y-%m-%d %H:%M}"


class RollUpMark(models.Model):
    """One row: records before `until` are rolled up."""

    until = models.DateTimeField()

    def __str__(self) -> str:
        return f"{self.until:%Y-%m-%d %H:%M}"
