"""Every response says which request it answers: the client's own id, or a new one. Each is counted and told."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import perf_counter

from asgiref.sync import iscoroutinefunction
from config.request_id import HEADER, current_request_id, request_id_of
from config.tracing import NO_SPAN, Attributes, Span, begin_span
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

from api.metrics import count_request

QUIET = ("/health/", "/metrics")  # asked every few seconds

logger = logging.getLogger(__name__)

Sync = Callable[[HttpRequest], HttpResponseBase]
Async = Callable[[HttpRequest], Awaitable[HttpResponseBase]]


@sync_and_async_middleware
def request_id_middleware(get_response: Sync | Async) -> Sync | Async:
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            begun = _begin(request)
            return _end(request, await get_response(request), begun)

        return answer_async

    def answer(request: HttpRequest) -> HttpResponseBase:
        begun = _begin(request)
        response = get_response(request)
        assert isinstance(response, HttpResponseBase)
        return _end(request, response, begun)

    return answer


@dataclass(frozen=True, slots=True)
class Begun:
    request_id: str
    span: Span
    started: float


def _begin(request: HttpRequest) -> Begun:
    request_id = request_id_of(request.headers.get(HEADER, ""))
    current_request_id.set(request_id)
    is_quiet = request.path.startswith(QUIET)
    span = NO_SPAN if is_quiet else begin_span(str(request.method), "server", request.headers)
    return Begun(request_id, span, perf_counter())


def _end(request: HttpRequest, response: HttpResponseBase, begun: Begun) -> HttpResponseBase:
    seconds = perf_counter() - begun.started
    response.headers[HEADER] = begun.request_id
    count_request(request, response, seconds)
    _end_span(request, response, begun.span)
    if not request.path.startswith(QUIET):
        told = {"method": request.method, "path": request.path, "status": response.status_code, "seconds": seconds}
        logger.info("%s %s %d", request.method, request.path, response.status_code, extra=told)
    return response


def _end_span(request: HttpRequest, response: HttpResponseBase, span: Span) -> None:
    """By the route: paths and queries have users' names and words in them."""
    route = f"/{request.resolver_match.route}" if request.resolver_match else "unknown"
    attributes: Attributes = {
        "http.request.method": str(request.method),
        "http.route": route,
        "http.response.status_code": response.status_code,
    }
    span.end(attributes, name=f"{request.method} {route}", failed=response.status_code >= 500)
