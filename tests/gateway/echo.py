"""A small ASGI server in vLLM's place, for what is ASGI alone: it answers with what reached it."""

import json
from collections.abc import Sequence
from typing import Any

from inference.gateway.http import Message, Receive, Scope, Send, header

USAGE = {"prompt_tokens": 9, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 4}}
CHUNKS = [
    {"choices": [{"index": 0, "delta": {"content": "Hel"}}]},
    {"choices": [{"index": 0, "delta": {"content": '"usage":{'}, "finish_reason": "stop"}]},
    {"choices": [], "usage": USAGE},
]


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] != "http":
        raise AssertionError(f"{scope['type']} reached the server")
    body = (await receive()).get("body", b"") if scope["method"] == "POST" else b""
    asked = json.loads(body) if body else {}
    if asked.get("wait"):
        asked["then"] = (await receive())["type"]
        return
    headers = {
        name: header(scope, name) for name in ("content-length", "x-request-id", "x-inferscale-forged", "traceparent")
    }
    said = {"index": 0, "message": {"role": "assistant", "content": "Hello, Ann."}, "finish_reason": "stop"}
    answer = {"path": scope["path"], "body": asked, "length": len(body), "headers": headers, "usage": USAGE}
    answer["choices"] = [{**said, **asked.get("say", {})}]
    parts = [json.dumps(answer).encode()]
    kind = b"application/json"
    if asked.get("stream"):
        kind = b"text/event-stream"
        parts = [b"data: " + json.dumps(chunk, separators=(",", ":")).encode() + b"\n\n" for chunk in CHUNKS]
        parts.append(b"data: [DONE]\n\n")
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", kind)]})
    for part in parts[: asked.get("leave_after")]:
        await send({"type": "http.response.body", "body": part, "more_body": True})
    if "leave_after" in asked:
        asked["then"] = (await receive())["type"]
        return
    await send({"type": "http.response.body", "body": b"", "more_body": False})


class Client:
    """Speaks ASGI to an application and keeps what it answers."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def send(
        self, method: str, path: str, body: object = None, *, key: str = "", headers: Sequence[tuple[str, str]] = ()
    ) -> "Received":
        raw = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        fields = [("content-length", str(len(raw))), ("content-type", "application/json"), *headers]
        fields += [("authorization", f"Bearer {key}")] if key else []
        scope = {
            "type": "http",
            "method": method,
            "path": path,
            "headers": [(k.encode(), v.encode()) for k, v in fields],
        }
        received = Received()
        inbox: list[Message] = [{"type": "http.request", "body": raw}, {"type": "http.disconnect"}]

        async def receive() -> Message:
            return inbox.pop(0)

        async def send(message: Message) -> None:
            received.take(message)

        await self.app(scope, receive, send)
        return received


class Received:
    def __init__(self) -> None:
        self.status, self.headers, self.body = 0, dict[str, str](), b""

    def take(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {key.decode(): value.decode() for key, value in message["headers"]}
        self.body += message.get("body", b"")

    @property
    def json(self) -> dict[str, Any]:
        return dict(json.loads(self.body))
