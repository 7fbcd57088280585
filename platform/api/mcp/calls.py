"""What a tool asks of the memory API, whose checks, scopes, limits and errors are the tool's own."""

from dataclasses import dataclass, field
from typing import Any

import httpx


class CallRefused(Exception):
    """The message says what to change, for whoever chose the arguments."""


@dataclass(frozen=True, slots=True)
class Call:
    method: str
    path: str
    body: dict[str, Any] | None = None
    query: dict[str, Any] = field(default_factory=dict)


async def answer_of(api: httpx.AsyncClient, call: Call) -> Any:
    """The body of the API's answer. Raises CallRefused for every answer that is no success, and for none at all."""
    try:
        answer = await api.request(call.method, call.path, json=call.body, params=call.query)
    except httpx.HTTPError as error:
        raise CallRefused(f"The memory API does not answer: {type(error).__name__}. Try again later.") from error
    try:
        body = answer.json()
    except ValueError:
        body = None
    if not answer.is_success or body is None:
        raise CallRefused(_reason(answer.status_code, body))
    return body


def _reason(status: int, body: Any) -> str:
    """`{detail}`, or the messages of each field, as lines."""
    if not isinstance(body, dict):
        return f"The memory API answers with status {status}."
    if isinstance(detail := body.get("detail"), str):
        return detail
    return "\n".join(f"{name}: {_flat(messages)}" for name, messages in body.items())


def _flat(messages: Any) -> str:
    if isinstance(messages, dict):
        return "; ".join(f"{name}: {_flat(inner)}" for name, inner in messages.items())
    return " ".join(map(_flat, messages)) if isinstance(messages, list) else str(messages)
