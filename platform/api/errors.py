"""Every error is JSON that says what to change: `{detail}`, or the messages of each field."""

import logging
from typing import Any

from django.core.exceptions import RequestDataTooBig
from django.db import InterfaceError, OperationalError
from facts.errors import (
    FactDuplicateError,
    FactGoneError,
    FactUnknownError,
    InvalidInputError,
    QuotaExceededError,
)
from rest_framework import status
from rest_framework.exceptions import APIException, NotFound, ValidationError
from rest_framework.response import Response
from rest_framework.views import exception_handler as drf_exception_handler
from tenants.members import LastOwnerError, NoSuchMemberError
from webhooks.services import TooManyWebhooksError

from api.parsers import BodyTooLarge

logger = logging.getLogger(__name__)


class DatabaseAway(APIException):
    status_code = status.HTTP_503_SERVICE_UNAVAILABLE
    default_detail = "The database cannot be reached. Nothing was stored; try again in a moment."
    default_code = "database_away"
    wait = 5  # seconds, sent as Retry-After


class Conflict(APIException):
    status_code = status.HTTP_409_CONFLICT
    default_code = "conflict"


class QuotaExceeded(APIException):
    """The status that Mem0's clients read as a quota that is used up."""

    status_code = status.HTTP_413_REQUEST_ENTITY_TOO_LARGE
    default_code = "quota_exceeded"


def exception_handler(error: Exception, context: dict[str, Any]) -> Response | None:
    return drf_exception_handler(_as_api_error(error), context)


def _as_api_error(error: Exception) -> Exception:
    match error:
        case FactDuplicateError():
            return Conflict(error.message)
        case QuotaExceededError():
            return QuotaExceeded(error.message)
        case InvalidInputError():
            return ValidationError({error.field: [error.message]})
        case FactUnknownError() | NoSuchMemberError():
            return NotFound(str(error))
        case LastOwnerError() | TooManyWebhooksError():
            return Conflict(str(error))
        case FactGoneError():
            return NotFound("The memory was deleted in the meantime.")
        case RequestDataTooBig():
            return BodyTooLarge()
        case OperationalError() | InterfaceError():
            logger.error("database away: %s", error)
            return DatabaseAway()
    return error
