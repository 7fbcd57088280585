"""What the batch calls take."""

from typing import Any

from rest_framework import serializers

from api.fields import ExpirationField, FactTextField, MetadataField, TimestampField
from api.inputs.base import Input

MAX_BATCH = 1000


class BatchInput(Input):
    """`memories` without an id twice: what the second would change is not what its sender saw."""

    ignored = ("org_id", "project_id")

    def validate_memories(self, value: list[dict[str, Any]]) -> list[dict[str, Any]]:
        if len({entry["memory_id"] for entry in value}) < len(value):
            raise serializers.ValidationError("Name each memory_id once.")
        return value


class BatchUpdateItem(Input):
    memory_id = serializers.UUIDField()
    text = FactTextField(required=False)
    metadata = MetadataField(required=False)
    expiration_date = ExpirationField(required=False, allow_null=True, help_text="null: never expires")
    timestamp = TimestampField(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if len(attrs) < 2:
            raise serializers.ValidationError("Name something to change: text, metadata, expiration_date, timestamp.")
        return attrs


class BatchDeleteItem(Input):
    memory_id = serializers.UUIDField()


class BatchUpdateInput(BatchInput):
    memories = serializers.ListField(child=BatchUpdateItem(), allow_empty=False, max_length=MAX_BATCH)


class BatchDeleteInput(BatchInput):
    memories = serializers.ListField(child=BatchDeleteItem(), allow_empty=False, max_length=MAX_BATCH)
