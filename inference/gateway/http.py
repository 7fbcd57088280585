"""The little of ASGI that the gateway touches."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping
from typing import Any

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]
HeaderList = Iterable[tuple[bytes, bytes]]

PROBED = ("/health", "/ping", "/version", "/metrics")
"""Paths that anybody may ask for, every few seconds."""


class ClientGone(Exception):
    """The client left before its request was read."""


class BodyTooLarge(Exception):
    """The body has more bytes than allowed."""


def header(scope: Scope, name: str) -> str:
    """The first header of that name, "" without one."""
    wanted = name.encode()
    return next((value.decode("latin-1") for key, value in scope["headers"] if key.lower() == wanted), "")


def with_headers(
    headers: HeaderList, fields: Mapping[str, str], *, drop: Iterable[str] = ()
) -> list[tuple[bytes, bytes]]:
    """Headers with `fields` set and those whose name is or begins with (`*`) one of `drop` removed."""
    exact = {name.encode() for name in (*fields, *drop)}
    starts = tuple(name[:-1].encode() for name in drop if name.endswith("*"))
    kept = [(key, value) for key, value in headers if key.lower() not in exact and not key.lower().startswith(starts)]
    return kept + [(key.encode(), value.encode("latin-1", "replace")) for key, value in fields.items()]


async def read_body(receive: Receive, limit: int, *, before_more: Callable[[], Awaitable[object]]) -> bytes:
    """`before_more` is awaited once where the body does not come in one piece. Raises ClientGone, BodyTooLarge."""
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientGone
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > limit:
            raise BodyTooLarge
        if not message.get("more_body", False):
            return b"".join(parts)
        if len(parts) == 1:
            await before_more()


async def send_json(send: Send, status: int, body: bytes, fields: Mapping[str, str] | None = None) -> None:
    """`body` is JSON already; `fields` are headers beside its kind and length."""
    shared = {"content-type": "application/json", "content-length": str(len(body)), **(fields or {})}
    await send({"type": "http.response.start", "status": status, "headers": with_headers([], shared)})
    await send({"type": "http.response.body", "body": body})


class Replay:
    """A `receive` that gives the body once and then passes the client's own messages on, its disconnect above all."""

    def __init__(self, body: bytes, receive: Receive, on_disconnect: Callable[[], None] | None = None) -> None:
        self._body: bytes | None = body
        self._receive, self._on_disconnect = receive, on_disconnect

    async def __call__(self) -> Message:
        if self._body is not None:
            body, self._body = self._body, None
            return {"type": "http.request", "body": body, "more_body": False}
        message = await self._receive()
        if message["type"] == "http.disconnect" and self._on_disconnect:
            self._on_disconnect()
        return message
