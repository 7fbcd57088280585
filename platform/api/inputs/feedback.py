"""What the feedback call takes."""

from facts.models import Verdict
from rest_framework import serializers

from api.fields import StrictCharField
from api.inputs.base import Input


class FeedbackInput(Input):
    ignored = ("org_id", "project_id")

    memory_id = serializers.UUIDField()
    feedback = serializers.ChoiceField(
        choices=Verdict.choices, required=False, allow_null=True, default=None, help_text="null takes it back"
    )
    feedback_reason = StrictCharField(required=False, allow_null=True, allow_blank=True, max_length=4096)
