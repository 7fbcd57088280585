"""What all inputs share. An unknown field is an error: a misspelt scope must not be stored as no scope."""

from collections.abc import Mapping
from typing import Any

from rest_framework import serializers


class Input(serializers.Serializer[Any]):
    """`ignored`: fields that clients of this API send and that change nothing here."""

    ignored: tuple[str, ...] = ()

    @classmethod
    def checked(cls, data: Any) -> dict[str, Any]:
        given = cls(data=data)
        given.is_valid(raise_exception=True)
        return dict(given.validated_data)

    def to_internal_value(self, data: Any) -> dict[str, Any]:
        if not isinstance(data, Mapping):
            return dict(super().to_internal_value(data))  # which refuses it
        unknown = [name for name in data if name not in self.fields and name not in self.ignored]
        if unknown:
            known = ", ".join(self.fields)
            raise serializers.ValidationError({name: [f"Unknown field. Known: {known}."] for name in unknown})
        return dict(super().to_internal_value(data))
