"""What the gateway does with each request, from the allow-list to the record."""

import asyncio
import logging
import re
from contextlib import nullcontext
from functools import partial
from time import perf_counter
from typing import Any
from uuid import uuid4

import msgspec
from django.conf import settings
from django.db import Error as DatabaseError
from usage.services import RequestRecordData

from inference.gateway.access import bearer_key, chat_key, is_service_key
from inference.gateway.answer import Answer
from inference.gateway.errors import ApiError, send_error
from inference.gateway.golden import golden_check
from inference.gateway.http import (
    App,
    BodyTooLarge,
    ClientGone,
    Message,
    Receive,
    Replay,
    Scope,
    Send,
    header,
    read_body,
    with_headers,
)
from inference.gateway.inside import ServerInside
from inference.gateway.plan import Plan
from inference.gateway.planner import parse_body, plan_request
from inference.gateway.records import RecordWriter
from inference.gateway.runtime import Runtime, load_runtime, read_template, server_setting
from inference.gateway.sanitize import ENGINE_HEADERS, worker_chat
from inference.gateway.threads import in_thread

logger = logging.getLogger(__name__)

OPEN = {("GET", path) for path in ("/health", "/ping", "/version", "/metrics")}
MODELS = ("GET", "/v1/models")
CHAT = ("POST", "/v1/chat/completions")
COMPLETIONS = ("POST", "/v1/completions")
MAX_BODY = 32 << 20
REQUEST_ID = re.compile(r"[\w.:@/+=-]{1,128}")
CLIENT_LEFT = 499


class GatewayService:
    def __init__(self, app: App) -> None:
        self._app = app
        self._runtime: Runtime | None = None
        self._records: RecordWriter | None = None
        self._golden: asyncio.Task[None] | None = None
        self._encodes = asyncio.Semaphore(settings.ENV.encode_max_in_flight)

    async def live(self, scope: Scope, receive: Receive, send: Send) -> None:
        """The server's lifespan: load before it is ready, check after, write what is left at its end."""

        async def send_when_loaded(message: Message) -> None:
            if message["type"] == "lifespan.startup.complete":
                try:
                    await self._start(scope.get("app"))
                except Exception as error:
                    logger.exception("the gateway cannot serve this model")
                    message = {"type": "lifespan.startup.failed", "message": f"gateway: {error}"}
            await send(message)

        try:
            await self._app(scope, receive, send_when_loaded)
        finally:
            await self._stop()

    async def _start(self, server: Any) -> None:
        inside = ServerInside(self._app, server)
        card = (await inside.get("/v1/models"))["data"][0]
        template = read_template(server_setting(server, "chat_template"))
        self._runtime = await in_thread(load_runtime, max_model_len=card["max_model_len"], chat_template=template)
        self._records = RecordWriter()
        servers = server_setting(server, "api_server_count") or 1
        self._encodes = asyncio.Semaphore(max(1, settings.ENV.encode_max_in_flight // servers))
        self._golden = asyncio.create_task(golden_check(self._runtime, inside))

    async def _stop(self) -> None:
        if self._golden:
            self._golden.cancel()
        if self._records:
            await asyncio.to_thread(self._records.close)

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = perf_counter()
        asked = header(scope, "x-request-id")
        request_id = asked if REQUEST_ID.fullmatch(asked) else uuid4().hex
        headers = {"x-request-id": request_id, "x-inferscale-golden": self._runtime.golden if self._runtime else "none"}
        try:
            await self._route(scope, receive, Answer(send, headers, started))
        except ClientGone:
            return
        except BodyTooLarge:
            error = ApiError(413, f"the body must have at most {MAX_BODY} bytes")
            await send_error(send, error, headers)
        except ApiError as error:
            await send_error(send, error, headers)
        except DatabaseError:
            logger.exception("the database does not answer")
            await send_error(send, ApiError(503, "the database does not answer; try again later"), headers)

    async def _route(self, scope: Scope, receive: Receive, answer: Answer) -> None:
        route = (scope["method"], scope["path"])
        if route in OPEN:
            await self._app(scope, receive, answer)
            return
        if route not in (MODELS, CHAT, COMPLETIONS):
            raise ApiError(404, f"{route[0]} {route[1]} is not served here", code="not_found")
        raw_key = bearer_key(scope)
        if is_service_key(raw_key):
            await self._serve_worker(scope, receive, answer, route)
        elif route == MODELS:
            await in_thread(chat_key, raw_key)
            await self._app(scope, receive, answer)
        elif self._runtime is None:
            raise ApiError(503, "the gateway is not ready")
        else:
            raw_body = await read_body(receive, MAX_BODY)
            planning = partial(plan_request, self._runtime, raw_key=raw_key, raw_body=raw_body, is_chat=route == CHAT)
            plan = await in_thread(planning)
            await self._serve_client(scope, receive, answer, plan)

    async def _serve_client(self, scope: Scope, receive: Receive, answer: Answer, plan: Plan) -> None:
        answer.headers.update(plan.headers)
        answer.count_tokens, answer.hide_usage = True, plan.hide_usage
        body = msgspec.json.encode(plan.body)
        replay = Replay(body, receive, answer.client_left)
        try:
            await self._app(_rewritten(scope, body, answer.headers["x-request-id"]), replay, answer)
        except Exception:
            answer.status = answer.status if answer.complete else 500
            raise
        finally:
            if answer.left:
                answer.status = CLIENT_LEFT
            self._record(plan, answer)

    async def _serve_worker(self, scope: Scope, receive: Receive, answer: Answer, route: tuple[str, str]) -> None:
        """Our own workers' requests. Few encodes at a time: they share the engine with chats."""
        raw_body = await read_body(receive, MAX_BODY)
        if route == CHAT:
            raw_body = msgspec.json.encode(worker_chat(parse_body(raw_body)))
            scope = _rewritten(scope, raw_body, answer.headers["x-request-id"])
        params = parse_body(raw_body).get("kv_transfer_params") if route == COMPLETIONS else None
        is_encode = isinstance(params, dict) and params.get("op") == "encode"
        async with self._encodes if is_encode else nullcontext():
            await self._app(scope, Replay(raw_body, receive), answer)

    def _record(self, plan: Plan, answer: Answer) -> None:
        if self._records is None:
            return
        usage, model = answer.usage, plan.body.get("model")
        details = usage.get("prompt_tokens_details") or {}
        self._records.put(
            RequestRecordData(
                tenant_id=plan.tenant_id,
                owner_name=_storable(plan.owner_name),
                mode=plan.mode,
                ttft_ms=answer.ttft_ms,
                total_ms=(perf_counter() - answer.started) * 1000,
                retrieval_ms=plan.retrieval_ms,
                prompt_tokens=usage.get("prompt_tokens") or plan.prompt_tokens or 0,
                tokens_injected_planned=plan.tokens_injected,
                cached_tokens=details.get("cached_tokens"),
                output_tokens=usage.get("completion_tokens") or 0,
                facts=plan.facts,
                status=answer.status,
                model=_storable(model if isinstance(model, str) else ""),
                request_id=answer.headers["x-request-id"],
            )
        )


def _rewritten(scope: Scope, body: bytes, request_id: str) -> Scope:
    """The new body's length, the gateway's own engine headers. Clients may repeat a request id, the engine may not."""
    fields = {"content-length": str(len(body)), "x-request-id": f"{request_id}-{uuid4().hex[:8]}"}
    headers = with_headers(scope["headers"], fields, drop=(*ENGINE_HEADERS, "transfer-encoding"))
    return {**scope, "headers": headers}


def _storable(name: str) -> str:
    """Clients may send what PostgreSQL refuses; one such record must not cost the batch."""
    return "".join(character for character in name if character.isprintable())[:255]
