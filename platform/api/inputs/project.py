"""What project settings and members take."""

import json
from typing import Any

from facts.text import MAX_CATEGORIES, check_metadata, clean_categories
from rest_framework import serializers
from rest_framework.exceptions import ParseError

from api.fields import StrictBooleanField, StrictCharField, explained
from api.inputs.base import Input

MAX_INSTRUCTIONS = 16_384
MAX_JSON_BYTES = 65_536
ROLES = {"READER": "viewer", "ADMIN": "admin", "OWNER": "owner"}


class AnyJSONField(serializers.JSONField):
    """What PostgreSQL's jsonb takes, of bounded size."""

    def to_internal_value(self, data: Any) -> Any:
        explained(check_metadata, {"": data})
        if len(json.dumps(data)) > MAX_JSON_BYTES:
            raise serializers.ValidationError(f"Must have at most {MAX_JSON_BYTES // 1024} KB as JSON.")
        return data


class CategoryField(AnyJSONField):
    """A name, or `{"name": "description"}`."""

    def to_internal_value(self, data: Any) -> Any:
        data = super().to_internal_value(data)
        described = isinstance(data, dict) and data and all(isinstance(text, str) for text in data.values())
        if not (described or (isinstance(data, str) and data.strip())):
            raise serializers.ValidationError('Must be a name or an object {"name": "description"}.')
        explained(clean_categories, list(data) if described else [data])
        return data


def _instructions() -> StrictCharField:
    return StrictCharField(required=False, allow_blank=True, max_length=MAX_INSTRUCTIONS)


class ProjectUpdateInput(Input):
    ignored = ("org_id", "project_id")

    custom_instructions = _instructions()
    agent_custom_instructions = _instructions()
    custom_categories = serializers.ListField(child=CategoryField(), required=False, max_length=MAX_CATEGORIES)
    multilingual = StrictBooleanField(required=False)
    decay = StrictBooleanField(required=False)
    memory_depth = StrictCharField(required=False, allow_blank=True, max_length=255)
    usecase_setting = AnyJSONField(required=False, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs:
            raise ParseError(f"Nothing to change. Send some of: {', '.join(self.fields)}.")
        return attrs


class MemberInput(Input):
    email = serializers.EmailField(max_length=254)
    role = serializers.ChoiceField(choices=tuple(ROLES), required=False, default="READER")

    def validate_role(self, value: str) -> str:
        return ROLES[value]


class MemberEmailInput(Input):
    ignored = ("org_id", "project_id")

    email = serializers.EmailField(max_length=254)
