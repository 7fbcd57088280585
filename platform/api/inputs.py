"""Bodies and query parameters. An unknown field is an error: a misspelt scope must not be stored as no scope."""

import ast
import json
from typing import Any

from django.db.models import Q
from facts.errors import InvalidInputError
from facts.scopes import Scopes
from rest_framework import serializers

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
from api.outputs import FoundMemoryOutput

SCOPE_FIELDS = ("user_id", "agent_id", "app_id", "run_id")
MAX_MESSAGES = 1000


class Input(serializers.Serializer[Any]):
    """`ignored`: fields that clients of this API send and that change nothing here."""

    ignored: tuple[str, ...] = ()

    @classmethod
    def checked(cls, data: Any) -> dict[str, Any]:
        given = cls(data=data)
        given.is_valid(raise_exception=True)
        return dict(given.validated_data)

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        unknown = [name for name in data if name not in self.fields and name not in self.ignored]
        if unknown:
            known = ", ".join(self.fields)
            raise serializers.ValidationError({name: [f"Unknown field. Known: {known}."] for name in unknown})
        return dict(super().to_internal_value(data))


class ScopedInput(Input):
    """Names whose memory it is, at the top level or in `filters`. Validated to `scopes`."""

    user_id = StrictCharField(required=False, allow_null=True, max_length=255)
    agent_id = StrictCharField(required=False, allow_null=True, max_length=255)
    app_id = StrictCharField(required=False, allow_null=True, max_length=255)
    run_id = StrictCharField(required=False, allow_null=True, max_length=255)
    filters = serializers.DictField(required=False, allow_null=True, help_text='The same names, {"user_id": "alice"}')

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        named = {name: attrs.pop(name) for name in SCOPE_FIELDS if attrs.get(name) is not None}
        for name, value in (attrs.pop("filters", None) or {}).items():
            if name not in SCOPE_FIELDS:
                raise InvalidInputError("filters", f"unknown scope {name!r}; known: {', '.join(SCOPE_FIELDS)}")
            if not isinstance(value, str) or named.get(name, value) != value:
                raise InvalidInputError("filters", f"{name} must be one string, the same wherever it is named")
            named[name] = value
        for name, value in named.items():
            if value == "*":
                raise InvalidInputError(name, "'*' is no name: give the name of one")
        attrs["scopes"] = Scopes(**named)
        return attrs


class DeleteManyInput(ScopedInput):
    """Query parameters. Clients that send `filters` here write it as JSON or as Python does."""

    ignored = ("org_id", "project_id")

    filters = serializers.CharField(required=False, help_text='{"user_id": "alice"}', max_length=4096)

    def validate_filters(self, value: str) -> dict[str, Any]:
        for read in (json.loads, ast.literal_eval):
            try:
                filters = read(value)
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
            if isinstance(filters, dict):
                return filters
        raise serializers.ValidationError('must be an object of names, like {"user_id": "alice"}')


def check_metadata_names(metadata: dict[str, Any] | None, scopes: Scopes) -> None:
    """Metadata is never read as a scope; one that names another user is a mistake worth an error."""
    for name in SCOPE_FIELDS:
        if metadata and name in metadata and metadata[name] != getattr(scopes, name):
            raise InvalidInputError(
                "metadata", f"metadata must not name another {name}: give it beside metadata, not in it"
            )


class MessageInput(serializers.Serializer[Any]):
    role = serializers.ChoiceField(choices=("user", "assistant", "system", "developer", "tool"))
    content = FactTextField()


class AddInput(ScopedInput):
    ignored = (
        "custom_instructions",
        "custom_categories",
        "agent_custom_instructions",
        "structured_data_schema",
        "includes",
        "excludes",
        "async_mode",
        "output_format",
        "version",
        "enable_graph",
        "org_id",
        "project_id",
        "source",
    )

    messages = MessageInput(many=True, allow_empty=False, max_length=MAX_MESSAGES)
    infer = StrictBooleanField(required=False, default=True, help_text="Must be false until this server extracts facts")
    metadata = MetadataField(required=False, allow_null=True)
    categories = serializers.ListField(
        child=StrictCharField(max_length=255), required=False, allow_null=True, max_length=100
    )
    immutable = StrictBooleanField(required=False, default=False)
    expiration_date = ExpirationField(required=False, allow_null=True)
    timestamp = TimestampField(required=False, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs = super().validate(attrs)
        check_metadata_names(attrs.get("metadata"), attrs["scopes"])
        return attrs


class UpdateInput(Input):
    text = FactTextField(required=False)
    metadata = MetadataField(required=False)
    expiration_date = ExpirationField(required=False, allow_null=True, help_text="null: never expires")
    timestamp = TimestampField(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs:
            raise InvalidInputError("detail", f"nothing to change; send some of {', '.join(self.fields)}")
        return attrs


class FilteredInput(Input):
    """Conditions on facts. Validated to `condition`, a Q."""

    filters = serializers.DictField(required=False, allow_null=True)
    categories = serializers.ListField(child=StrictCharField(), required=False, allow_null=True)
    show_expired = StrictBooleanField(required=False, default=False)

    def validate_filters(self, value: dict[str, Any] | None) -> Q:
        return explained(parse_filters, value or {})

    def validate_categories(self, value: list[str] | None) -> Q:
        return explained(parse_filters, {"categories": value}) if value else Q()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs["condition"] = attrs.pop("filters", Q()) & attrs.pop("categories", Q())
        return attrs


class ListInput(FilteredInput):
    ignored = ("latest_only", "output_format", "version", "org_id", "project_id")

    start_date = StrictCharField(required=False, allow_null=True, help_text="created on or after")
    end_date = StrictCharField(required=False, allow_null=True, help_text="created on or before")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs = super().validate(attrs)
        for name, operator in (("start_date", "gte"), ("end_date", "lte")):
            if (value := attrs.pop(name, None)) is not None:
                attrs["condition"] &= explained(parse_filters, {"created_at": {operator: value}}, field=name)
        return attrs


class SearchInput(FilteredInput):
    ignored = (
        "rerank",
        "reference_date",
        "keyword_search",
        "latest_only",
        "filter_memories",
        "output_format",
        "version",
        "org_id",
        "project_id",
        "enable_graph",
    )

    query = StrictCharField(max_length=32_768)
    filters = serializers.DictField(help_text='Like {"user_id": "alice"} or {"AND": [{"user_id": "alice"}, ...]}')
    metadata = MetadataField(required=False, allow_null=True)
    top_k = serializers.IntegerField(required=False, default=10, min_value=1, max_value=1000)
    threshold = serializers.FloatField(required=False, default=0.1, min_value=0, max_value=1)
    fields = serializers.ListField(  # type: ignore[assignment]  # the metaclass takes it away from Serializer.fields
        child=serializers.ChoiceField(choices=FoundMemoryOutput.Meta.fields),
        required=False,
        allow_null=True,
        help_text="Keys of a result to return",
    )

    def validate_query(self, value: str) -> str:
        if not value.strip():
            raise serializers.ValidationError("The query must contain text.")
        return value

    def validate_metadata(self, value: dict[str, Any] | None) -> Q:
        return explained(parse_filters, {"metadata": value}) if value else Q()

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs = super().validate(attrs)
        attrs["condition"] &= attrs.pop("metadata", Q())
        return attrs
