"""Bodies: JSON objects of bounded size."""

import io
import json
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework import status
from rest_framework.exceptions import APIException, ParseError
from rest_framework.parsers import BaseParser, JSONParser


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


class JSONLinesParser(BaseParser):
    """An object a line. A line that is none is passed on as its text, for the import's report to name it."""

    media_type = "application/x-ndjson"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        content = _read(stream)
        try:
            lines = content.decode("utf-8-sig").split("\n")
        except UnicodeDecodeError as error:
            raise ParseError(f"The body is not UTF-8: {error}") from None
        return {"memories": [_row(line) for line in lines if line.strip()]}


def _row(line: str) -> Any:
    try:
        return json.loads(line, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return line


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _read(stream: IO[Any]) -> bytes:
    limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    content: bytes = stream.read(limit + 1)
    if len(content) > limit:
        raise BodyTooLarge
    return content


class JSONObjectParser(JSONParser):
    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        content = _read(stream)
        try:
            body = super().parse(io.BytesIO(content), media_type, parser_context)
        except RecursionError:
            raise ParseError("JSON parse error - the body is nested too deeply.") from None
        if not isinstance(body, dict):
            raise ParseError('The body must be a JSON object, like {"query": "..."}.')
        return body
