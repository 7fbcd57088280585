"""What the webhook calls take."""

from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ParseError
from webhooks.address import check_url
from webhooks.models import EventType

from api.fields import FactTextField, StrictBooleanField, StrictCharField, explained
from api.inputs.base import Input


class EventTypeField(serializers.ChoiceField):
    """`memory_add`, or as older clients write it `memory:add`."""

    def to_internal_value(self, data: Any) -> Any:
        return super().to_internal_value(data.replace(":", "_") if isinstance(data, str) else data)


class WebhookInput(Input):
    ignored = ("org_id", "project_id")

    url = StrictCharField(max_length=2048)
    name = FactTextField()
    event_types = serializers.ListField(child=EventTypeField(choices=EventType.choices), allow_empty=False)
    is_active = StrictBooleanField(required=False)

    def validate_url(self, value: str) -> str:
        explained(check_url, value)
        return value

    def validate_name(self, value: str) -> str:
        if len(value) > 255:
            raise serializers.ValidationError("Must have at most 255 characters.")
        return value

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs:
            raise ParseError(f"Nothing to change. Send some of: {', '.join(self.fields)}.")
        return attrs
