"""MCP over HTTP, beside Django in the web process."""

from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any

import httpx
from asgiref.sync import ThreadSensitiveContext, sync_to_async
from django.conf import settings
from django.db import DatabaseError, connection
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from rest_framework.exceptions import AuthenticationFailed
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from api.authentication import HOW, key_holder
from api.errors import DatabaseAway
from api.mcp.server import Caller, Context, memory_server

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[Any]]
Send = Callable[[Any], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

PATH = "/mcp"
PASSED = ("authorization", "host", "traceparent", "tracestate")
METHOD_NOT_ALLOWED, UNAUTHORIZED = 405, 401


class McpMount:
    """Answers /mcp; everything else goes to `django`. Tools call the memory API of that `django`, in this process.

    No session is kept, so any web process can answer any message. Whose memory is meant where a call names nobody may
    stand in the address: /mcp?user_id=ada.
    """

    def __init__(self, django: Application) -> None:
        self._django = django
        self._sessions: StreamableHTTPSessionManager | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._live(receive, send)
        elif scope["type"] == "http" and scope["path"].rstrip("/") == PATH:
            refusal = await _refusal(Request(scope))
            await (refusal or self._running())(scope, receive, send)
        else:
            await self._django(scope, receive, send)

    async def _live(self, receive: Receive, send: Send) -> None:
        async with AsyncExitStack() as stack:
            while (message := await receive())["type"] == "lifespan.startup":
                self._sessions = StreamableHTTPSessionManager(
                    memory_server(self._caller_of),
                    json_response=True,
                    stateless=True,
                    max_request_body_size=settings.DATA_UPLOAD_MAX_MEMORY_SIZE,
                )
                await stack.enter_async_context(self._sessions.run())
                await send({"type": "lifespan.startup.complete"})
            self._sessions = None
        await send({"type": f"{message['type']}.complete"})

    def _running(self) -> Application:
        assert self._sessions is not None, "the server that runs this application leaves its lifespan out"
        return self._sessions.handle_request

    def _caller_of(self, context: Context) -> Caller:
        request = context.request
        assert isinstance(request, Request)
        passed = {name: request.headers[name] for name in PASSED if name in request.headers}
        transport = httpx.ASGITransport(self._django, raise_app_exceptions=False)  # type: ignore[arg-type]
        api = httpx.AsyncClient(transport=transport, base_url=f"{request.url.scheme}://web", headers=passed)
        return Caller(api, request.query_params.get("user_id", ""))


async def _refusal(request: Request) -> Response | None:
    """Only POST is served, for no session has anything to stream; and only to a key that lives."""
    if request.method != "POST":
        return JSONResponse({"detail": "Send POST."}, METHOD_NOT_ALLOWED, {"allow": "POST"})
    async with ThreadSensitiveContext():
        problem = await sync_to_async(_problem_of)(request.headers.get("authorization", ""))
    if isinstance(problem, DatabaseAway):
        return JSONResponse({"detail": str(problem.detail)}, problem.status_code, {"retry-after": str(problem.wait)})
    if problem:
        return JSONResponse({"detail": str(problem)}, UNAUTHORIZED, {"www-authenticate": "Bearer"})
    return None


def _problem_of(authorization: str) -> DatabaseAway | str | None:
    try:
        return None if key_holder(authorization) else HOW
    except AuthenticationFailed as error:
        return str(error.detail)
    except DatabaseError:
        return DatabaseAway()
    finally:
        connection.close()  # the thread ends with the request
