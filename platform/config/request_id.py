"""The id of the request that is being answered: web, gateway, or in a worker that of the task's sender."""

import logging
import re
from contextvars import ContextVar
from uuid import uuid4

from config.tracing import trace_headers

ACCEPTED = re.compile(r"[\w.:@/+=-]{1,128}", re.ASCII)
HEADER = "X-Request-ID"
TASK_HEADER = "request_id"

current_request_id: ContextVar[str] = ContextVar("request_id", default="")


def request_id_of(asked: str) -> str:
    """The caller's own id, or a new one."""
    return asked if ACCEPTED.fullmatch(asked) else uuid4().hex


def request_headers() -> dict[str, str]:
    """For what is asked of another process on this request's behalf: its logs and spans name the request too."""
    request_id = current_request_id.get()
    return {**({HEADER: request_id} if request_id else {}), **trace_headers()}


class RequestIdFilter(logging.Filter):
    """Gives every record its `request_id`, "-" outside of requests."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = current_request_id.get() or "-"
        return True
