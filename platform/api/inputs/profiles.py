"""What the profile calls take."""

from typing import Any

from django.db.models import TextChoices
from rest_framework import serializers

from api.fields import StrictBooleanField, StrictCharField
from api.inputs.base import Input
from api.inputs.project import MAX_INSTRUCTIONS, AnyJSONField


class Operation(TextChoices):
    TRIGGER = "trigger"
    SAMPLE = "sample"


class UserProfileSettingsInput(Input):
    schema = AnyJSONField(required=False, allow_null=True)
    custom_instructions = StrictCharField(
        required=False, allow_null=True, allow_blank=True, max_length=MAX_INSTRUCTIONS
    )

    def validate_schema(self, value: Any) -> Any:
        """null takes it away."""
        if value is None:
            return None
        properties = value.get("properties") if isinstance(value, dict) else None
        if not isinstance(properties, dict) or not properties:
            raise serializers.ValidationError('Must be a JSON schema with "properties".')
        plain = [
            name for name, about in properties.items() if not (isinstance(about, dict) and about.get("description"))
        ]
        if plain:
            raise serializers.ValidationError(f"Every property needs a description; none has: {', '.join(plain)}.")
        return value


class EntityProfileSettingsInput(Input):
    user = UserProfileSettingsInput(required=False)


class ProfileSettingsInput(Input):
    enabled = StrictBooleanField(required=False)
    entities = EntityProfileSettingsInput(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        """To the names of the project's settings."""
        changes: dict[str, Any] = {}
        if "enabled" in attrs:
            changes["profiles_enabled"] = attrs["enabled"]
        user = attrs.get("entities", {}).get("user", {})
        if "schema" in user:
            changes["profile_schema"] = user["schema"]
        if "custom_instructions" in user:
            changes["profile_instructions"] = user["custom_instructions"] or ""
        return changes


class ProfileJobInput(Input):
    operation = serializers.ChoiceField(choices=Operation.choices)
    entity_type = serializers.ChoiceField(choices=("user",), required=False, default="user")
    entity_id = StrictCharField(required=False, max_length=255)
    limit = serializers.IntegerField(required=False, default=5, min_value=1, max_value=10)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if attrs["operation"] == Operation.TRIGGER and not attrs.get("entity_id"):
            raise serializers.ValidationError({"entity_id": ["Name the user."]})
        return attrs
