"""Every response says which request it answers: the client's own id, or a new one."""

import re
from collections.abc import Awaitable, Callable
from uuid import uuid4

from asgiref.sync import iscoroutinefunction
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import sync_and_async_middleware

HEADER = "X-Request-ID"
ACCEPTED = re.compile(r"[\w.:-]{1,128}", re.ASCII)

Sync = Callable[[HttpRequest], HttpResponseBase]
Async = Callable[[HttpRequest], Awaitable[HttpResponseBase]]


@sync_and_async_middleware
def request_id_middleware(get_response: Sync | Async) -> Sync | Async:
    if iscoroutinefunction(get_response):

        async def answer_async(request: HttpRequest) -> HttpResponseBase:
            return _named(request, await get_response(request))

        return answer_async

    def answer(request: HttpRequest) -> HttpResponseBase:
        response = get_response(request)
        assert isinstance(response, HttpResponseBase)
        return _named(request, response)

    return answer


def _named(request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
    asked = request.headers.get(HEADER, "")
    response.headers[HEADER] = asked if ACCEPTED.fullmatch(asked) else uuid4().hex
    return response
