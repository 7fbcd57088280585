"""What the gateway does with each request, from the allow-list to the record."""

import asyncio
import logging
from contextlib import nullcontext
from functools import partial
from time import perf_counter
from typing import Any
from uuid import uuid4

import msgspec
from config.request_id import current_request_id, request_id_of
from config.tracing import start_tracing, trace_headers
from django.conf import settings
from django.db import Error as DatabaseError
from usage.services import RequestRecordData

from inference.gateway.access import bearer_key, chat_key, is_service_key, known_key
from inference.gateway.answer import Answer
from inference.gateway.errors import ApiError, send_error
from inference.gateway.explaining import explain_request
from inference.gateway.golden import golden_check
from inference.gateway.http import (
    PROBED,
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
    send_json,
    with_headers,
)
from inference.gateway.inside import ServerInside
from inference.gateway.metrics import IN_PROGRESS, count_refusal, count_request
from inference.gateway.plan import Plan
from inference.gateway.planner import parse_body, plan_request
from inference.gateway.records import RecordWriter
from inference.gateway.runtime import Runtime, load_runtime, read_template, server_setting
from inference.gateway.sanitize import ENGINE_HEADERS, worker_chat
from inference.gateway.threads import in_thread
from inference.gateway.tracing import begin_gateway_span, end_gateway_span
from inference.gateway.writeback import WriteBack

logger = logging.getLogger(__name__)

OPEN = {("GET", path) for path in PROBED}
MODELS = ("GET", "/v1/models")
CHAT = ("POST", "/v1/chat/completions")
COMPLETIONS = ("POST", "/v1/completions")
PLAN = ("POST", "/v1/memory/plan")
MAX_BODY = 32 << 20
BODY_SECONDS = 60.0
CLIENT_LEFT = 499
UNWRITTEN = "unwritten"  # conversations on their way to the database, in the data folder


class GatewayService:
    def __init__(self, app: App) -> None:
        self._app = app
        self._runtime: Runtime | None = None
        self._records: RecordWriter | None = None
        self._writes: WriteBack | None = None
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
        start_tracing("gateway")
        inside = ServerInside(self._app, server)
        card = (await inside.get("/v1/models"))["data"][0]
        template = read_template(server_setting(server, "chat_template"))
        self._runtime = await in_thread(load_runtime, max_model_len=card["max_model_len"], chat_template=template)
        self._records, self._writes = RecordWriter(), WriteBack(settings.ENV.home / UNWRITTEN)
        servers = server_setting(server, "api_server_count") or 1
        self._encodes = asyncio.Semaphore(max(1, settings.ENV.encode_max_in_flight // servers))
        self._golden = asyncio.create_task(golden_check(self._runtime, inside))

    async def _stop(self) -> None:
        if self._golden:
            self._golden.cancel()
        if self._records:
            await asyncio.to_thread(self._records.close)
        if self._writes:
            await asyncio.to_thread(self._writes.close)

    async def serve(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = perf_counter()
        request_id = request_id_of(header(scope, "x-request-id"))
        current_request_id.set(request_id)
        headers = {"x-request-id": request_id, "x-inferscale-golden": self._runtime.golden if self._runtime else "none"}
        answer = Answer(send, headers, started)
        span = begin_gateway_span(scope)
        try:
            await self._route(scope, receive, answer)
        except ClientGone:
            answer.status = CLIENT_LEFT
        except BodyTooLarge:
            await self._refuse(answer, ApiError(413, f"the body must have at most {MAX_BODY} bytes"))
        except ApiError as error:
            await self._refuse(answer, error)
        except DatabaseError:
            logger.exception("the database does not answer")
            await self._refuse(answer, ApiError(503, "the database does not answer; try again later"))
        finally:
            end_gateway_span(span, answer)

    async def _refuse(self, answer: Answer, error: ApiError) -> None:
        count_refusal(error.status)
        answer.status = error.status
        await send_error(answer.send, error, answer.headers)

    async def _route(self, scope: Scope, receive: Receive, answer: Answer) -> None:
        route = (scope["method"], scope["path"])
        if route in OPEN:
            await self._app(scope, receive, answer)
            return
        if route not in (MODELS, CHAT, COMPLETIONS, PLAN):
            raise ApiError(404, f"{route[0]} {route[1]} is not served here", code="not_found")
        if settings.ENV.drain_file and settings.ENV.drain_file.exists():
            raise ApiError(503, "this engine is about to end; ask again")
        with IN_PROGRESS.track_inprogress():
            await self._serve(scope, receive, answer, route)

    async def _serve(self, scope: Scope, receive: Receive, answer: Answer, route: tuple[str, str]) -> None:
        raw_key = bearer_key(scope)
        if route == PLAN:
            await self._explain(receive, answer, raw_key)
        elif is_service_key(raw_key):
            await self._serve_worker(scope, receive, answer, route)
        elif route == MODELS:
            await in_thread(chat_key, raw_key)
            await self._app(scope, receive, answer)
        else:
            runtime, raw_body = self._ready(), await _body(receive, raw_key)
            planning = partial(
                plan_request,
                runtime,
                raw_key=raw_key,
                raw_body=raw_body,
                is_chat=route == CHAT,
                request_name=_name(scope),
                started=answer.started,
            )
            plan = await in_thread(planning)
            await self._serve_client(scope, receive, answer, plan)

    def _ready(self) -> Runtime:
        if self._runtime is None:
            raise ApiError(503, "the gateway is not ready")
        return self._runtime

    async def _explain(self, receive: Receive, answer: Answer, raw_key: str) -> None:
        runtime, raw_body = self._ready(), await _body(receive, raw_key)
        explanation = await in_thread(explain_request, runtime, raw_key=raw_key, raw_body=raw_body)
        await send_json(answer, 200, msgspec.json.encode(explanation))

    async def _serve_client(self, scope: Scope, receive: Receive, answer: Answer, plan: Plan) -> None:
        body = msgspec.json.encode(plan.body)
        plan.stages.end("send")
        answer.headers.update(plan.headers)
        answer.count_tokens, answer.hide_usage, answer.keep_text = True, plan.hide_usage, plan.conversation is not None
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
            await self._remember(plan, answer)

    async def _remember(self, plan: Plan, answer: Answer) -> None:
        """The client has its answer by now. What was not said to its end is not remembered, nor a call of a tool."""
        if plan.conversation is None or self._writes is None:
            return
        if answer.is_finished and answer.text.strip():
            await asyncio.to_thread(self._writes.keep, plan.conversation.answered(answer.text))

    async def _serve_worker(self, scope: Scope, receive: Receive, answer: Answer, route: tuple[str, str]) -> None:
        """Our own workers' requests. Few encodes at a time: they share the engine with chats."""
        raw_body = await _body(receive, None)
        if route == CHAT:
            raw_body = msgspec.json.encode(worker_chat(parse_body(raw_body)))
            scope = _rewritten(scope, raw_body, answer.headers["x-request-id"])
        elif caused := trace_headers():
            scope = {**scope, "headers": with_headers(scope["headers"], caused)}
        params = parse_body(raw_body).get("kv_transfer_params") if route == COMPLETIONS else None
        is_encode = isinstance(params, dict) and params.get("op") == "encode"
        logger.info("a worker's %s", params.get("op") if isinstance(params, dict) else route[1])
        async with self._encodes if is_encode else nullcontext():
            await self._app(scope, Replay(raw_body, receive), answer)

    def _record(self, plan: Plan, answer: Answer) -> None:
        count_request(plan, answer)
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
                fact_ids=plan.fact_ids,
                facts_injected=plan.facts_injected,
                status=answer.status,
                model=_storable(model if isinstance(model, str) else ""),
                request_id=answer.headers["x-request-id"],
            )
        )


async def _body(receive: Receive, raw_key: str | None) -> bytes:
    """One in several pieces may be large and slow: it is taken from who has a key alone. None: who is known already.

    Raises ApiError, ClientGone, BodyTooLarge.
    """

    async def check_key() -> None:
        if raw_key is not None:
            await in_thread(known_key, raw_key)

    try:
        async with asyncio.timeout(BODY_SECONDS):
            return await read_body(receive, MAX_BODY, before_more=check_key)
    except TimeoutError:
        raise ApiError(408, f"the body did not come within {BODY_SECONDS:g} s") from None


def _name(scope: Scope) -> str:
    """What the client calls this request, so that sent again it is known."""
    return header(scope, "idempotency-key") or header(scope, "x-request-id")


def _rewritten(scope: Scope, body: bytes, request_id: str) -> Scope:
    """The new body's length, the gateway's own engine headers. Clients may repeat a request id, the engine may not."""
    fields = {"content-length": str(len(body)), "x-request-id": f"{request_id}-{uuid4().hex[:8]}", **trace_headers()}
    headers = with_headers(scope["headers"], fields, drop=(*ENGINE_HEADERS, "transfer-encoding"))
    return {**scope, "headers": headers}


def _storable(name: str) -> str:
    """Clients may send what PostgreSQL refuses; one such record must not cost the batch."""
    return "".join(character for character in name if character.isprintable())[:255]
