"""What add and update take."""

from typing import Any

from facts.services.extraction import MAX_WISH
from facts.text import MAX_CATEGORIES
from rest_framework import serializers
from rest_framework.exceptions import ParseError

from api.fields import (
    ExpirationField,
    FactTextField,
    MetadataField,
    StrictBooleanField,
    StrictCharField,
    TimestampField,
)
from api.inputs.base import Input
from api.inputs.project import CategoryField
from api.inputs.scoped import ScopedInput, check_metadata_names

MAX_MESSAGES = 1000


class MessageInput(serializers.Serializer[Any]):
    role = serializers.ChoiceField(choices=("user", "assistant", "system", "developer", "tool"))
    content = FactTextField()


class WishField(StrictCharField):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(required=False, allow_null=True, allow_blank=True, max_length=MAX_WISH, **kwargs)


class AddInput(ScopedInput):
    ignored: tuple[str, ...] = (
        "agent_custom_instructions",
        "structured_data_schema",
        "async_mode",
        "output_format",
        "version",
        "enable_graph",
        "org_id",
        "project_id",
        "source",
    )

    messages = serializers.ListField(child=MessageInput(), allow_empty=False, max_length=MAX_MESSAGES)
    infer = StrictBooleanField(
        required=False, default=True, help_text="true: a job finds the facts; false: each message is one"
    )
    custom_instructions = WishField(help_text="Further instructions for finding facts")
    includes = WishField(help_text="What facts to look for alone")
    excludes = WishField(help_text="What facts to leave out")
    custom_categories = serializers.ListField(
        child=CategoryField(),
        required=False,
        allow_null=True,
        max_length=MAX_CATEGORIES,
        help_text="Those that the facts found may have, in place of the project's",
    )
    metadata = MetadataField(required=False, allow_null=True)
    categories = serializers.ListField(
        child=StrictCharField(max_length=255),
        required=False,
        allow_null=True,
        max_length=MAX_CATEGORIES,
        help_text="Of all memories of this call",
    )
    immutable = StrictBooleanField(required=False, default=False)
    expiration_date = ExpirationField(required=False, allow_null=True)
    timestamp = TimestampField(required=False, allow_null=True)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        attrs = super().validate(attrs)
        check_metadata_names(attrs.get("metadata"), attrs["scopes"])
        return attrs


class OlderAddInput(AddInput):
    """As `POST /v1/memories/` takes it; without `output_format` it answers a bare list."""

    ignored = tuple(name for name in AddInput.ignored if name != "output_format")

    output_format = serializers.ChoiceField(choices=("v1.0", "v1.1"), required=False, default="v1.0")


class UpdateInput(Input):
    text = FactTextField(required=False)
    metadata = MetadataField(required=False)
    expiration_date = ExpirationField(required=False, allow_null=True, help_text="null: never expires")
    timestamp = TimestampField(required=False)

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs:
            raise ParseError(f"Nothing to change. Send some of: {', '.join(self.fields)}.")
        return attrs
