"""Bodies: JSON objects of bounded size."""

import io
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import JSONParser


class BodyTooLarge(APIException):
    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "body_too_large"

    def __init__(self) -> None:
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE >> 20
        super().__init__(f"The body is larger than {limit} MiB. Send fewer or shorter messages a call.")


class LengthMissing(APIException):
    status_code = status.HTTP_411_LENGTH_REQUIRED
    default_detail = "Send the body whole, with a Content-Length header."
    default_code = "length_required"


class JSONObjectParser(JSONParser):
    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        content = stream.read(limit + 1)
        if len(content) > limit:
            raise BodyTooLarge
        try:
            body = super().parse(io.BytesIO(content), media_type, parser_context)
        except RecursionError:
            raise ParseError("JSON parse error - the body is nested too deeply.") from None
        if not isinstance(body, dict):
            raise ParseError('The body must be a JSON object, like {"query": "..."}.')
        return body
