"""Errors in the form that OpenAI clients expect."""

import json
from dataclasses import dataclass
from typing import Any

from inference.gateway.http import Send, send_json

TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
    503: "service_unavailable_error",
}


@dataclass(eq=False)  # not frozen: Python writes tracebacks into exceptions
class ApiError(Exception):
    """What the client gets instead of an answer; `message` says what to change, `retry_after` in how many s."""

    status: int
    message: str
    param: str | None = None
    code: str | None = None
    retry_after: int | None = None

    def body(self) -> dict[str, Any]:
        kind = TYPES.get(self.status, "invalid_request_error" if self.status < 500 else "server_error")
        kind = self.code if self.code == "insufficient_quota" else kind
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}}


async def send_error(send: Send, error: ApiError, headers: dict[str, str] | None = None) -> None:
    fields = dict(headers or {})
    if error.status == 401:
        fields["www-authenticate"] = "Bearer"
    if error.retry_after is not None:
        fields["retry-after"] = str(error.retry_after)
    await send_json(send, error.status, json.dumps(error.body()).encode(), fields)
