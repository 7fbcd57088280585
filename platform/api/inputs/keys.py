"""What the key and usage calls take."""

from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone
from rest_framework import serializers
from tenants.models import KeyScope

from api.dates import parse_period
from api.fields import FactTextField, StrictBooleanField, StrictCharField, TimestampField, explained
from api.inputs.base import Input

LONGEST = timedelta(days=366)


class KeyInput(Input):
    name = FactTextField()
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=KeyScope.choices), allow_empty=False)
    expires_at = TimestampField(required=False, allow_null=True)
    requests_per_minute = serializers.IntegerField(
        required=False, allow_null=True, min_value=0, max_value=1_000_000, help_text="null: as configured; 0: any"
    )
    user_field_enables_memory = StrictBooleanField(required=False)

    def validate_name(self, value: str) -> str:
        if len(value) > 255:
            raise serializers.ValidationError("Must have at most 255 characters.")
        return value

    def validate_expires_at(self, value: datetime | None) -> datetime | None:
        if value is not None and value <= timezone.now():
            raise serializers.ValidationError("Must lie in the future.")
        return value


class UsageQuery(Input):
    ignored = ("org_id", "project_id")

    start_date = StrictCharField(required=False, help_text="A day or a time with its offset; 30 days ago by default")
    end_date = StrictCharField(required=False, help_text="Included; now by default")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        now = datetime.now(UTC)
        since, until = now - timedelta(days=30), now
        if "start_date" in attrs:
            since = explained(parse_period, attrs["start_date"], field="start_date")[0]
        if "end_date" in attrs:
            until = explained(parse_period, attrs["end_date"], field="end_date")[1]
        if not since < until <= since + LONGEST:
            raise serializers.ValidationError({"start_date": ["Must lie before end_date, by at most 366 days."]})
        return {"since": since, "until": until}
