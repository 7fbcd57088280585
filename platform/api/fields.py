"""Serializer fields that take a value as it is or say what to change: no silent coercion."""

from collections.abc import Callable
from datetime import datetime
from typing import Any, TypeVar

from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from facts.text import check_metadata, clean_fact_text
from rest_framework import serializers

from api import dates

Value = TypeVar("Value")
Result = TypeVar("Result")


def explained(check: Callable[[Value], Result], value: Value, field: str | None = None) -> Result:
    """The result of a check that raises ValueError; its message becomes the error of the field."""
    try:
        return check(value)
    except ValueError as error:
        raise serializers.ValidationError({field: [str(error)]} if field else str(error)) from None


class StrictCharField(serializers.CharField):
    """A JSON string, untrimmed: numbers are not turned into names."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(trim_whitespace=False, **kwargs)

    def to_internal_value(self, data: Any) -> str:
        if not isinstance(data, str):
            self.fail("invalid")
        return str(data)


@extend_schema_field(OpenApiTypes.STR)
class FactTextField(serializers.Field[Any, Any, Any, Any]):
    """Text that can become a fact; the services clean it."""

    default_error_messages = {"null": "must contain text"}

    def to_internal_value(self, data: Any) -> str:
        explained(clean_fact_text, data)
        return str(data)

    def to_representation(self, value: str) -> str:
        return value


class StrictBooleanField(serializers.BooleanField):
    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            raise serializers.ValidationError("Must be true or false.")
        return data


@extend_schema_field({"type": "object", "additionalProperties": {}})
class MetadataField(serializers.Field[Any, Any, Any, Any]):
    def to_internal_value(self, data: Any) -> dict[str, Any]:
        return explained(check_metadata, data)

    def to_representation(self, value: Any) -> Any:
        return value


@extend_schema_field(OpenApiTypes.DATE)
class ExpirationField(serializers.Field[Any, Any, Any, Any]):
    """YYYY-MM-DD (used through that day, UTC) or a time with its offset."""

    def to_internal_value(self, data: Any) -> datetime:
        return explained(dates.parse_expiration, data)

    def to_representation(self, value: datetime) -> str | None:
        return dates.format_expiration(value)


@extend_schema_field({"oneOf": [{"type": "number"}, {"type": "string", "format": "date-time"}]})
class TimestampField(serializers.Field[Any, Any, Any, Any]):
    def to_internal_value(self, data: Any) -> datetime:
        return explained(dates.parse_timestamp, data)

    def to_representation(self, value: datetime) -> str:
        return value.isoformat()
