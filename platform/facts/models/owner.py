"""Whose memory it is, and what was said."""

import uuid

from django.db import models
from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import TenantManager


class OwnerKind(models.TextChoices):
    USER = "user"
    AGENT = "agent"
    APP = "app"
    RUN = "run"


class Owner(models.Model):
    """`change_seq` moves with every change of the memory, `erasure_epoch` when something was changed or erased.

    Both move in the transaction of the change, under this row's lock: who has read up to a `change_seq` has seen all
    facts of that or a lower `seq`. `checked_seq`: what had changed by then can make no encoding better any more.
    """

    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="owners")
    kind = models.CharField(max_length=8, choices=OwnerKind)
    name = models.CharField(max_length=255)
    change_seq = models.BigIntegerField(default=0)
    erasure_epoch = models.BigIntegerField(default=0)
    checked_seq = models.BigIntegerField(default=0)
    erased_at = models.DateTimeField(null=True, blank=True, editable=False, help_text="When all was last deleted")
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = TenantManager()

    class Meta:
        constraints = (models.UniqueConstraint(fields=("tenant", "kind", "name"), name="owner_once"),)

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


class Turn(models.Model):
    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="turns")
    owner = models.ForeignKey(Owner, on_delete=models.CASCADE, related_name="turns")
    event = models.ForeignKey("facts.Event", on_delete=models.SET_NULL, null=True, blank=True, related_name="turns")
    run_id = models.CharField(max_length=255, blank=True, default="")
    role = models.CharField(max_length=32)
    content = models.TextField()
    occurred_at = models.DateTimeField(default=timezone.now)
    created_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = TenantManager()

    class Meta:
        indexes = (models.Index(fields=("owner", "created_at"), name="turn_by_owner"),)

    def __str__(self) -> str:
        return f"{self.role}: {self.content[:60]}"
