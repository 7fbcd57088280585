"""A segment's KV: which blob holds it, what it was computed from, how far it is."""

import uuid
from datetime import timedelta

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.db import models
from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import TenantManager

from facts.models.fact import Fact
from facts.models.owner import Owner

GRACE = timedelta(minutes=2)  # without a sign of life a pending encoding counts as lost
KEPT = timedelta(minutes=1)  # a replaced blob, for requests that were promised it


class EncodingState(models.TextChoices):
    PENDING = "pending"
    READY = "ready"
    FAILED = "failed"
    STALE = "stale"


class Encoding(models.Model):
    """Without a fact it is the owner's encoding header.

    Only a ready encoding is served. A pending one beside it is its refinement and takes its place once ready. A stale
    one stays until its blob (if it has a `key`) is dropped from every tier, not before `keep_until`.
    """

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="encodings")
    owner = models.ForeignKey(Owner, on_delete=models.CASCADE, related_name="encodings")
    fact = models.ForeignKey(Fact, on_delete=models.CASCADE, null=True, blank=True, related_name="encodings")
    fingerprint = models.CharField(max_length=128, help_text="Model, RoPE parameters and KV dtype")
    strategy = models.CharField(max_length=64)
    key = models.CharField(max_length=64, blank=True, default="")
    digest = models.CharField(max_length=64, blank=True, default="", help_text="Of the segment's token ids")
    context_fact_ids = ArrayField(models.UUIDField(), default=list, blank=True)
    context_turn_ids = ArrayField(models.UUIDField(), default=list, blank=True)
    tokens = models.IntegerField(null=True, blank=True)
    bytes = models.BigIntegerField(null=True, blank=True)
    state = models.CharField(max_length=8, choices=EncodingState, default=EncodingState.PENDING)
    error = models.TextField(blank=True, default="")
    attempts = models.IntegerField(default=0)
    fact_hash = models.CharField(max_length=64, blank=True, default="")
    taken_by = models.UUIDField(null=True, blank=True, help_text="The fact in whose pass it is encoded while pending")
    checked_at = models.DateTimeField(null=True, blank=True, help_text="Facts stored until then were looked at")
    refreshes = models.IntegerField(default=0, help_text="How often a context of newer facts was tried for this text")
    keep_until = models.DateTimeField(null=True, blank=True, help_text="Of a stale one that a better one replaced")
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = TenantManager()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("owner", "fact", "fingerprint", "strategy"),
                condition=models.Q(state="ready"),
                nulls_distinct=False,
                name="encoding_served_once",
            ),
            models.UniqueConstraint(
                fields=("owner", "fact", "fingerprint", "strategy"),
                condition=models.Q(state__in=("pending", "failed")),
                nulls_distinct=False,
                name="encoding_made_once",
            ),
        )
        indexes = (
            GinIndex(fields=("context_fact_ids",), name="encoding_by_context"),
            models.Index(fields=("tenant", "state"), include=("fact", "bytes"), name="encoding_by_state"),
            models.Index(fields=("key",), name="encoding_by_key"),
        )

    def __str__(self) -> str:
        return f"{'header' if self.fact_id is None else self.fact_id} {self.strategy} {self.state}"

    def is_free_for(self, leader_id: uuid.UUID) -> bool:
        """Whether this fact's task may encode it: nobody is at it, or whoever was has not been heard of for long."""
        if self.state == EncodingState.FAILED:
            return self.fact_id == leader_id
        is_left = self.taken_by in (None, leader_id) or self.updated_at < timezone.now() - GRACE
        return self.state == EncodingState.PENDING and is_left
