"""A request's span in the gateway: what memory did and how long it took, as the answer's headers say it."""

from config.tracing import NO_SPAN, Span, begin_span

from inference.gateway.answer import Answer
from inference.gateway.http import PROBED, Scope, header

PREFIX = "x-inferscale-"


class _Headers:
    def __init__(self, scope: Scope) -> None:
        self._scope = scope

    def get(self, name: str, /) -> str:
        return header(self._scope, name)


def begin_gateway_span(scope: Scope) -> Span:
    return NO_SPAN if scope["path"] in PROBED else begin_span("gateway", "server", _Headers(scope))


def end_gateway_span(span: Span, answer: Answer) -> None:
    if span is NO_SPAN:
        return
    said = {name: value for name, value in answer.headers.items() if name.startswith(PREFIX)}
    attributes: dict[str, str | int | float] = {
        "http.response.status_code": answer.status,
        **{f"inferscale.{name.removeprefix(PREFIX)}": value for name, value in said.items()},
    }
    if answer.ttft_ms is not None:
        attributes["inferscale.ttft-ms"] = answer.ttft_ms
    if timing := answer.headers.get("server-timing"):
        attributes["inferscale.timing"] = timing
    span.end(attributes, failed=answer.status not in range(100, 500))
