"""Work that takes longer than a call: in parts, so that it goes on where it was cut off."""

import uuid

from django.db import models
from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import TenantManager


class JobKind(models.TextChoices):
    IMPORT = "import"
    EXPORT = "export"
    PROFILES = "profiles"
    EMBEDDINGS = "embeddings"
    SUMMARY = "summary"


class JobState(models.TextChoices):
    PENDING = "PENDING"
    RUNNING = "RUNNING"
    FAILED = "FAILED"
    SUCCEEDED = "SUCCEEDED"


class Job(models.Model):
    """`runner` names who works at it: a conditional update of the row by `runner` tells one who was replaced."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="jobs")
    kind = models.CharField(max_length=16, choices=JobKind)
    state = models.CharField(max_length=16, choices=JobState, default=JobState.PENDING)
    options = models.JSONField(default=dict, blank=True)
    event_id = models.UUIDField()
    actor = models.CharField(max_length=255, blank=True, default="")
    total = models.IntegerField(default=0, help_text="Rows")
    done = models.IntegerField(default=0, help_text="Rows dealt with, the refused among them")
    refused = models.IntegerField(default=0)
    error = models.TextField(blank=True, default="")
    runner = models.UUIDField(null=True, blank=True)
    created_at = models.DateTimeField(default=timezone.now, editable=False, db_index=True)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = TenantManager()

    class Meta:
        indexes = (
            models.Index(fields=("tenant", "kind", "-created_at"), name="job_by_kind"),
            models.Index(fields=("updated_at",), condition=models.Q(state__in=("PENDING", "RUNNING")), name="job_open"),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.state}"


class JobPart(models.Model):
    """`body`: the rows to deal with, emptied once that is done; of an export the rows written. JSON, a line a row.

    `report`: what was refused, [{"line": 1-based, "reason": ...}]. A part with a report that is not done has failed.
    """

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="job_parts")
    job = models.ForeignKey(Job, on_delete=models.CASCADE, related_name="parts")
    number = models.IntegerField()
    body = models.TextField(blank=True, default="")
    rows = models.IntegerField(default=0)
    is_done = models.BooleanField(default=False)
    report = models.JSONField(default=list, blank=True)

    objects = TenantManager()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("job", "number"), name="job_part_once"),)
        ordering = ("number",)

    def __str__(self) -> str:
        return f"part {self.number}"
