"""What list and search take."""

from typing import Any

from django.db.models import Q
from rest_framework import serializers

from api.fields import MetadataField, StrictBooleanField, StrictCharField, explained
from api.filters import parse_filters
from api.inputs.base import Input
from api.outputs import FoundMemoryOutput


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
    ignored: tuple[str, ...] = ("latest_only", "output_format", "version", "org_id", "project_id")

    start_date = StrictCharField(required=False, allow_null=True, help_text="created on or after")
    end_date = StrictCharField(required=False, allow_null=True, help_text="created on or before")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs = super().validate(attrs)
        for name, operator in (("start_date", "gte"), ("end_date", "lte")):
            if (value := attrs.pop(name, None)) is not None:
                attrs["condition"] &= explained(parse_filters, {"created_at": {operator: value}}, field=name)
        return attrs


class SearchInput(FilteredInput):
    ignored: tuple[str, ...] = (
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
    rerank = serializers.BooleanField(
        required=False, default=False, help_text="in the order of the reranker, where the installation has one"
    )
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


class SummaryInput(FilteredInput):
    ignored: tuple[str, ...] = ("org_id", "project_id")
