"""What one request causes in web, gateway, engine and workers, told as OpenTelemetry spans.

Without OTEL_EXPORTER_OTLP_ENDPOINT no exporter is loaded and these functions do nothing. Spans name what was done, how
long it took and how it ended: never texts, names of users or keys.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Protocol

from django.conf import settings

if TYPE_CHECKING:
    from config.otlp import Exporter

Kind = Literal["server", "consumer"]
Attributes = Mapping[str, str | int | float | bool]

_exporter: "Exporter | None" = None


class Headers(Protocol):
    def get(self, name: str, /) -> Any: ...


class Span(Protocol):
    def end(self, attributes: Attributes, *, name: str = "", failed: bool = False) -> None:
        """`name`: a better one than it began with."""


class NoSpan:
    def end(self, attributes: Attributes, *, name: str = "", failed: bool = False) -> None:
        """Nothing is told."""


NO_SPAN = NoSpan()


def start_tracing(service: str) -> None:
    """Once a process, and not before it is forked."""
    global _exporter
    if settings.ENV.otlp_endpoint and _exporter is None:
        from config.otlp import Exporter

        _exporter = Exporter(settings.ENV.otlp_endpoint, service)


def end_tracing() -> None:
    """Sends what is left."""
    global _exporter
    exporter, _exporter = _exporter, None
    if exporter is not None:
        exporter.close()


def begin_span(name: str, kind: Kind, headers: Headers) -> Span:
    """Caused by whatever these headers name; until the next one begins in this context it causes all that is sent."""
    return NO_SPAN if _exporter is None else _exporter.begin(name, kind, headers)


def trace_headers() -> dict[str, str]:
    """For what the present span causes elsewhere (W3C Trace Context)."""
    return {} if _exporter is None else _exporter.headers()
