"""Inputs that name whose memory it is."""

import ast
import json
from typing import Any

from facts.errors import InvalidInputError
from facts.scopes import Scopes
from rest_framework import serializers

from api.fields import StrictCharField
from api.inputs.base import Input

SCOPE_FIELDS = ("user_id", "agent_id", "app_id", "run_id")


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

    filters = serializers.CharField(  # type: ignore[assignment]
        required=False, help_text='{"user_id": "alice"}', max_length=4096
    )

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
