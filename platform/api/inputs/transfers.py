"""What import and export take."""

import json
from datetime import datetime
from typing import Any

from facts.errors import InvalidInputError
from facts.scopes import Scopes
from facts.text import clean_categories, clean_fact_text
from rest_framework import serializers

from api.dates import parse_timestamp
from api.fields import (
    ExpirationField,
    FactTextField,
    MetadataField,
    StrictBooleanField,
    StrictCharField,
    TimestampField,
    explained,
)
from api.filters import parse_filters
from api.inputs.base import Input
from api.inputs.project import AnyJSONField
from api.inputs.scoped import SCOPE_FIELDS, check_metadata_names

MAX_ROWS = 50_000


class ExportFilterInput(Input):
    """Names at the top level and `filters` alike; validated to `filters`, as one tree, None where nothing is named."""

    ignored: tuple[str, ...] = ("org_id", "project_id")

    user_id = StrictCharField(required=False, allow_null=True, max_length=255)
    agent_id = StrictCharField(required=False, allow_null=True, max_length=255)
    app_id = StrictCharField(required=False, allow_null=True, max_length=255)
    run_id = StrictCharField(required=False, allow_null=True, max_length=255)
    filters = serializers.DictField(required=False, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        named = {name: value for name in SCOPE_FIELDS if (value := attrs.pop(name, None)) is not None}
        given = attrs.pop("filters", None)
        explained(parse_filters, named)
        explained(parse_filters, given or {}, field="filters")
        conditions = [condition for condition in (given, named) if condition]
        both = {"AND": conditions} if len(conditions) == 2 else None
        attrs["filters"] = both or (conditions[0] if conditions else given)
        return attrs


class ExportInput(ExportFilterInput):
    ignored = ("org_id", "project_id", "export_instructions")

    schema = AnyJSONField(
        help_text="A JSON schema or its text. Those of its properties that a memory has are exported; if none, all"
    )

    def validate_schema(self, value: Any) -> dict[str, Any]:
        if isinstance(value, str):
            try:
                value = json.loads(value)
            except (ValueError, RecursionError):
                value = None
        if not isinstance(value, dict):
            raise serializers.ValidationError("Must be a JSON schema: an object, or its text.")
        return value


class ExportGetInput(ExportFilterInput):
    memory_export_id = serializers.UUIDField(required=False, help_text="The latest export of the filters, if left out")


class ImportInput(Input):
    """`memories`, or `results` as lists and exports have it; more about each in ImportRowInput."""

    ignored = ("count", "next", "previous", "org_id", "project_id", "id", "status")

    memories = serializers.ListField(child=serializers.JSONField(), required=False, max_length=MAX_ROWS)
    results = serializers.ListField(child=serializers.JSONField(), required=False, max_length=MAX_ROWS)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        rows = [*attrs.get("memories", []), *attrs.get("results", [])]
        if not rows:
            raise serializers.ValidationError({"memories": ["Send at least one memory."]})
        return {"rows": rows}


class ImportRowInput(serializers.Serializer[Any]):
    """A memory as it is exported here and by Mem0; what is not named here is passed over."""

    memory = FactTextField(required=False, allow_null=True)
    text = FactTextField(required=False, allow_null=True)
    user_id = StrictCharField(required=False, allow_null=True, allow_blank=True, max_length=255)
    agent_id = StrictCharField(required=False, allow_null=True, allow_blank=True, max_length=255)
    app_id = StrictCharField(required=False, allow_null=True, allow_blank=True, max_length=255)
    run_id = StrictCharField(required=False, allow_null=True, allow_blank=True, max_length=255)
    metadata = MetadataField(required=False, allow_null=True)
    categories = serializers.ListField(child=StrictCharField(max_length=255), required=False, allow_null=True)
    immutable = StrictBooleanField(required=False, allow_null=True)
    expiration_date = ExpirationField(required=False, allow_null=True)
    timestamp = TimestampField(required=False, allow_null=True)
    created_at = StrictCharField(required=False, allow_null=True, help_text="When it happened, without a timestamp")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        scopes = Scopes(**{name: attrs.get(name) or "" for name in SCOPE_FIELDS})
        if not scopes.named:
            raise InvalidInputError("user_id", f"name at least one of {', '.join(SCOPE_FIELDS)}")
        metadata = attrs.get("metadata") or {}
        check_metadata_names(metadata, scopes)
        return {
            "text": clean_fact_text(attrs.get("memory") or attrs.get("text"), field="memory"),
            "scopes": scopes.named,
            "metadata": metadata,
            "categories": clean_categories(attrs.get("categories")),
            "immutable": bool(attrs.get("immutable")),
            "expires_at": _iso(attrs.get("expiration_date")),
            "occurred_at": _iso(attrs.get("timestamp") or self._created(attrs)),
        }

    @staticmethod
    def _created(attrs: dict[str, Any]) -> datetime | None:
        value = attrs.get("created_at")
        return explained(parse_timestamp, value, field="created_at") if value else None


def read_row(row: Any) -> dict[str, Any]:
    """What to store. Raises ValueError saying why it is refused."""
    if not isinstance(row, dict):
        raise ValueError("not a JSON object")
    given = ImportRowInput(data=row)
    try:
        if not given.is_valid():
            raise ValueError("; ".join(_complaints(given.errors)))
    except InvalidInputError as error:
        raise ValueError(f"{error.field}: {error.message}") from None
    return dict(given.validated_data)


def _complaints(errors: Any, field: str = "") -> list[str]:
    if isinstance(errors, dict):
        nested = [_complaints(value, field or str(name)) for name, value in errors.items()]
        return [complaint for complaints in nested for complaint in complaints]
    if isinstance(errors, list):
        return [complaint for value in errors for complaint in _complaints(value, field)]
    return [f"{field}: {errors}" if field and field != "non_field_errors" else str(errors)]


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
