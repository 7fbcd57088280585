"""Errors in the form that OpenAI clients expect."""

import json
from dataclasses import dataclass
from typing import Any

from inference.gateway.http import Send, with_headers

TYPES = {401: "authentication_error", 403: "permission_error", 404: "not_found_error", 503: "service_unavailable_error"}


@dataclass(eq=False)  # not frozen: Python writes tracebacks into exceptions
class ApiError(Exception):
    """What the client gets instead of an answer; `message` says what to change."""

    status: int
    message: str
    param: str | None = None
    code: str | None = None

    def body(self) -> dict[str, Any]:
        kind = TYPES.get(self.status, "invalid_request_error" if self.status < 500 else "server_error")
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.code}}


async def send_error(send: Send, error: ApiError, headers: dict[str, str] | None = None) -> None:
    body = json.dumps(error.body()).encode()
    fields = {"content-type": "application/json", "content-length": str(len(body)), **(headers or {})}
    if error.status == 401:
        fields["www-authenticate"] = "Bearer"
    await send({"type": "http.response.start", "status": error.status, "headers": with_headers([], fields)})
    await send({"type": "http.response.body", "body": body})
