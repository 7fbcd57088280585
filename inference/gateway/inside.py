"""Calls to the wrapped server inside its own process, behind the gateway."""

import asyncio
import json
from typing import Any

from inference.gateway.http import App, Message

TIMEOUT_SECONDS = 120.0


class ServerInside:
    """The engine's API without a socket. `server` is the Starlette application that requests find in their scope."""

    def __init__(self, app: App, server: Any) -> None:
        self._app, self._server = app, server

    async def get(self, path: str) -> dict[str, Any]:
        return await self._call("GET", path, b"")

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        return await self._call("POST", path, json.dumps(body).encode())

    async def _call(self, method: str, path: str, body: bytes) -> dict[str, Any]:
        """Raises RuntimeError on any answer but 200."""
        status, parts = 0, list[bytes]()
        given, never = False, asyncio.Event()

        async def receive() -> Message:
            nonlocal given
            if given:
                await never.wait()
            given = True
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Message) -> None:
            nonlocal status
            status = message.get("status", status)
            parts.append(message.get("body", b""))

        await asyncio.wait_for(self._app(self._scope(method, path, body), receive, send), TIMEOUT_SECONDS)
        answer = b"".join(parts)
        if status != 200:
            raise RuntimeError(f"{method} {path} answered {status}: {answer[:500].decode(errors='replace')}")
        return dict(json.loads(answer))

    def _scope(self, method: str, path: str, body: bytes) -> dict[str, Any]:
        headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": b"",
            "headers": [(b"host", b"inside"), *headers],
            "client": ("127.0.0.1", 0),
            "server": ("127.0.0.1", 0),
            "state": {},
            "app": self._server,
        }
