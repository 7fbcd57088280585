"""Watches an answer on its way to the client: headers, first chunk, token counts."""

import json
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

from inference.gateway.http import Message, Send, with_headers

MAX_PARSED = 16 << 20


@dataclass
class Answer:
    """A `send` that forwards. With `hide_usage` it removes the final usage chunk that the client did not ask for.

    `text`: with `keep_text`, what the first choice says; `is_finished` once the model has said all of it.
    """

    send: Send
    headers: dict[str, str]
    started: float
    count_tokens: bool = False
    hide_usage: bool = False
    keep_text: bool = False
    status: int = 0
    ttft_ms: float | None = None
    complete: bool = False
    left: bool = False
    usage: dict[str, Any] = field(default_factory=dict)
    text: str = ""
    is_finished: bool = False
    _is_stream: bool = False
    _parts: list[bytes] = field(default_factory=list)

    async def __call__(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            self._start(message)
            message = {**message, "headers": with_headers(message.get("headers", ()), self.headers)}
        elif message["type"] == "http.response.body":
            message = self._body(message)
            if not message.get("body") and not self.complete:
                return
        await self.send(message)
        if self.complete and self._parts:
            self._read_whole()

    def client_left(self) -> None:
        """Whatever the server makes of it: an answer that was not complete by now did not arrive."""
        self.left = not self.complete

    def _start(self, message: Message) -> None:
        self.status = message["status"]
        kind = next((value for key, value in message.get("headers", ()) if key.lower() == b"content-type"), b"")
        self._is_stream = kind.startswith(b"text/event-stream")

    def _body(self, message: Message) -> Message:
        body: bytes = message.get("body", b"")
        if body and self.ttft_ms is None:
            self.ttft_ms = (perf_counter() - self.started) * 1000
        self.complete = not message.get("more_body", False)
        if not self.count_tokens:
            return message
        if not self._is_stream:
            self._parts.append(body)
            return message
        if b'"usage":{' not in body and not self.keep_text:
            return message
        return {**message, "body": self._read_events(body)}

    def _read_events(self, body: bytes) -> bytes:
        """Take the counts from server-sent events; vLLM sends whole events in one message."""
        events = body.split(b"\n\n")
        return b"\n\n".join(event for event in events if not (self._read_event(event) and self.hide_usage))

    def _read_event(self, event: bytes) -> bool:
        """Whether it is the final chunk, which holds nothing but token counts."""
        if not event.startswith(b"data: {"):
            return False
        try:
            chunk = json.loads(event.removeprefix(b"data: "))
        except ValueError:
            return False
        self.usage = chunk.get("usage") or self.usage
        self._hear(chunk, "delta")
        return chunk.get("choices") == [] and bool(chunk.get("usage"))

    def _read_whole(self) -> None:
        parts, self._parts = self._parts, []
        if self.status != 200 or sum(map(len, parts)) > MAX_PARSED:
            return
        try:
            answer = json.loads(b"".join(parts))
            self.usage = answer.get("usage") or {}
        except (ValueError, AttributeError):
            self.usage = {}
        else:
            self._hear(answer, "message")

    def _hear(self, answer: dict[str, Any], part: str) -> None:
        if not self.keep_text:
            return
        for choice in answer.get("choices") or ():
            if choice.get("index") == 0:
                self.text += (choice.get(part) or {}).get("content") or ""
                self.is_finished = self.is_finished or choice.get("finish_reason") is not None
