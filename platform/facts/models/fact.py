"""A remembered fact and what happened to it."""

import uuid
from datetime import datetime

from django.contrib.postgres.fields import ArrayField
from django.contrib.postgres.indexes import GinIndex
from django.contrib.postgres.search import SearchVector, SearchVectorField
from django.db import models
from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import ClosedQuerySet, TenantManager

from facts.models.event import Event
from facts.models.owner import Owner, Turn
from facts.scopes import Scopes


class FactStatus(models.TextChoices):
    ACTIVE = "active"
    SUPERSEDED = "superseded"
    DELETED = "deleted"


WORDS_LANGUAGE = "english"


class FactManager(TenantManager["Fact"]):
    """Without the words, which only the database reads."""

    def get_queryset(self) -> models.QuerySet["Fact"]:
        facts = super().get_queryset()
        return facts if isinstance(facts, ClosedQuerySet) else facts.defer("words")


class Fact(models.Model):
    """A deleted or superseded fact stays as a row without vector, so that readers learn of it from its `seq`.

    It held from `valid_from` until `valid_until`, which is None while it holds. `source_turn` said it, `source_event`
    brought it.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="facts")
    owner = models.ForeignKey(Owner, on_delete=models.CASCADE, related_name="facts")
    user_id = models.CharField(max_length=255, blank=True, default="")
    agent_id = models.CharField(max_length=255, blank=True, default="")
    app_id = models.CharField(max_length=255, blank=True, default="")
    run_id = models.CharField(max_length=255, blank=True, default="")
    text = models.TextField()
    metadata = models.JSONField(default=dict, blank=True)
    categories = ArrayField(models.CharField(max_length=255), default=list, blank=True)
    source_turn = models.ForeignKey(Turn, on_delete=models.SET_NULL, null=True, blank=True, related_name="facts")
    source_event = models.ForeignKey(Event, on_delete=models.SET_NULL, null=True, blank=True, related_name="facts")
    superseded_by = models.ForeignKey(
        "self", on_delete=models.SET_NULL, null=True, blank=True, related_name="superseded"
    )
    valid_until = models.DateTimeField(null=True, blank=True)
    occurred_at = models.DateTimeField(null=True, blank=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    status = models.CharField(max_length=16, choices=FactStatus, default=FactStatus.ACTIVE)
    immutable = models.BooleanField(default=False)
    hash = models.CharField(max_length=64, help_text="SHA-256 of the text")
    claim_key = models.CharField(
        max_length=32, blank=True, default="", help_text="Of the attribute that it gives a value, if it does"
    )
    claim_version = models.SmallIntegerField(default=0, help_text="Of the rules that made the claim_key")
    seq = models.BigIntegerField(default=0, help_text="The owner's change_seq at the last change")
    embedding = models.BinaryField(null=True, help_text="float32, little-endian, unit norm")
    embedding_model = models.CharField(max_length=255, blank=True, default="")
    words = models.GeneratedField(
        expression=SearchVector("text", config=WORDS_LANGUAGE), output_field=SearchVectorField(), db_persist=True
    )
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = FactManager()

    class Meta:
        constraints = (
            models.UniqueConstraint(
                fields=("owner", "user_id", "agent_id", "app_id", "run_id", "hash"),
                condition=models.Q(status="active"),
                name="active_fact_once",
            ),
        )
        indexes = (
            models.Index(fields=("owner", "seq"), name="fact_by_seq"),
            models.Index(fields=("tenant", "-created_at"), name="fact_by_time"),
            # Enough to count facts without reading them: with their vectors they are long rows.
            models.Index(
                fields=("tenant", "owner"),
                include=("id", "expires_at"),
                name="fact_active",
                condition=models.Q(status="active"),
            ),
            models.Index(
                fields=("tenant", "-created_at"), name="fact_with_category", condition=~models.Q(categories=[])
            ),
            models.Index(fields=("owner", "claim_key"), name="fact_by_claim", condition=~models.Q(claim_key="")),
            models.Index(
                fields=("tenant", "claim_version"), name="fact_by_claim_version", condition=models.Q(status="active")
            ),
            GinIndex(fields=("words",), name="fact_by_words"),
        )

    def __str__(self) -> str:
        return self.text[:80]

    @property
    def scopes(self) -> Scopes:
        return Scopes(self.user_id, self.agent_id, self.app_id, self.run_id)

    @property
    def valid_from(self) -> datetime:
        return self.occurred_at or self.created_at


class FactHistory(models.Model):
    """Survives its fact: no foreign key on it. A deletion by a newer fact names that one and how long the old held."""

    class Kind(models.TextChoices):
        ADD = "ADD"
        UPDATE = "UPDATE"
        DELETE = "DELETE"

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="fact_history")
    fact_id = models.UUIDField(db_index=True)
    old_text = models.TextField(blank=True, default="")
    new_text = models.TextField(blank=True, default="")
    event = models.CharField(max_length=8, choices=Kind)
    created_at = models.DateTimeField(default=timezone.now, editable=False)
    actor = models.CharField(max_length=255, blank=True, default="")
    superseded_by = models.UUIDField(null=True, blank=True)
    valid_from = models.DateTimeField(null=True, blank=True)
    valid_until = models.DateTimeField(null=True, blank=True)

    objects = TenantManager()

    class Meta:
        verbose_name_plural = "fact history"

    def __str__(self) -> str:
        return f"{self.event} {self.fact_id}"
