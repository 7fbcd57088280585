"""What is left to find in the turns of a call: an event's facts, by a model."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import TenantManager

from facts.models.event import Event
from facts.models.owner import Owner
from facts.scopes import Scopes


class Extraction(models.Model):
    """The event's turns are what is read; its status says how far it is. The rest is what the call asked for."""

    event = models.OneToOneField(Event, on_delete=models.CASCADE, primary_key=True, related_name="extraction")
    tenant = models.ForeignKey(Tenant, on_delete=models.CASCADE, related_name="extractions")
    owner = models.ForeignKey(Owner, on_delete=models.CASCADE, related_name="extractions")
    user_id = models.CharField(max_length=255, blank=True, default="")
    agent_id = models.CharField(max_length=255, blank=True, default="")
    app_id = models.CharField(max_length=255, blank=True, default="")
    run_id = models.CharField(max_length=255, blank=True, default="")
    instructions = models.TextField(blank=True, default="")
    includes = models.TextField(blank=True, default="")
    excludes = models.TextField(blank=True, default="")
    known_categories = models.JSONField(
        default=dict, blank=True, help_text="Those that a found fact may have, and what is meant by each"
    )
    metadata = models.JSONField(default=dict, blank=True)
    categories = ArrayField(
        models.CharField(max_length=255), default=list, blank=True, help_text="Of all facts that are found"
    )
    expires_at = models.DateTimeField(null=True, blank=True)
    immutable = models.BooleanField(default=False)
    actor = models.CharField(max_length=255, blank=True, default="")
    attempts = models.IntegerField(default=0)
    prompt_tokens = models.BigIntegerField(default=0, help_text="Of the model's answers that were used")
    output_tokens = models.BigIntegerField(default=0)
    updated_at = models.DateTimeField(default=timezone.now, editable=False)

    objects = TenantManager()

    def __str__(self) -> str:
        return f"extraction {self.event_id}"

    @property
    def scopes(self) -> Scopes:
        return Scopes(self.user_id, self.agent_id, self.app_id, self.run_id)
