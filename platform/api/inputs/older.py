"""What the older forms of list and search take: names at the top level, in a query string or a body."""

import json
from typing import Any

from django.db.models import Q
from rest_framework import serializers

from api.fields import MetadataField, StrictCharField, explained
from api.filters import parse_filters
from api.inputs.base import Input
from api.inputs.queries import ListInput, SearchInput
from api.inputs.scoped import SCOPE_FIELDS


class NamedInput(Input):
    """Names at the top level, beside `filters`; both must hold."""

    user_id = StrictCharField(required=False, allow_null=True, max_length=255)
    agent_id = StrictCharField(required=False, allow_null=True, max_length=255)
    app_id = StrictCharField(required=False, allow_null=True, max_length=255)
    run_id = StrictCharField(required=False, allow_null=True, max_length=255)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs = super().validate(attrs)
        attrs["condition"] = attrs.get("condition", Q()) & self._named(attrs)
        return attrs

    @staticmethod
    def _named(attrs: dict[str, Any]) -> Q:
        condition = Q()
        for name in SCOPE_FIELDS:
            if (value := attrs.pop(name, None)) is not None:
                condition &= explained(parse_filters, {name: value}, field=name)
        return condition


class OutputFormatInput(Input):
    output_format = serializers.ChoiceField(
        choices=("v1.0", "v1.1"), required=False, default="v1.0", help_text='v1.0: a list; v1.1: {"results": [...]}'
    )


class OlderListInput(NamedInput, OutputFormatInput, ListInput):
    """The body of `POST /v2/memories/`."""

    ignored = tuple(name for name in ListInput.ignored if name != "output_format")


class OlderSearchInput(NamedInput, OutputFormatInput, SearchInput):
    ignored = tuple(name for name in SearchInput.ignored if name != "output_format")

    filters = serializers.DictField(required=False, allow_null=True)
    limit = serializers.IntegerField(required=False, min_value=1, max_value=1000, help_text="The older name of top_k")
    only_metadata_based_search = serializers.BooleanField(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs = super().validate(attrs)
        attrs.pop("only_metadata_based_search", None)
        attrs["top_k"] = attrs.pop("limit", attrs["top_k"])
        return attrs


class ListQuery(NamedInput, OutputFormatInput):
    """The query string of `GET /v1/memories/`."""

    ignored = ("org_id", "project_id", "version", "page", "page_size")

    categories = serializers.CharField(required=False, help_text="Separated by commas")
    keywords = StrictCharField(required=False)
    metadata = serializers.CharField(required=False, help_text="JSON")
    start_date = StrictCharField(required=False, help_text="created on or after")
    end_date = StrictCharField(required=False, help_text="created on or before")
    show_expired = serializers.BooleanField(required=False, default=False)

    def validate_metadata(self, value: str) -> dict[str, Any]:
        try:
            return MetadataField().to_internal_value(json.loads(value))
        except (ValueError, RecursionError):
            raise serializers.ValidationError('must be JSON, like {"topic": "travel"}') from None

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs = super().validate(attrs)
        if categories := attrs.pop("categories", ""):
            wanted = {"categories": [name.strip() for name in categories.split(",")]}
            attrs["condition"] &= explained(parse_filters, wanted, field="categories")
        for name in ("keywords", "metadata"):
            if value := attrs.pop(name, None):
                attrs["condition"] &= explained(parse_filters, {name: value}, field=name)
        for name, operator in (("start_date", "gte"), ("end_date", "lte")):
            if (value := attrs.pop(name, None)) is not None:
                attrs["condition"] &= explained(parse_filters, {"created_at": {operator: value}}, field=name)
        return attrs
