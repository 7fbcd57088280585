"""OpenTelemetry's SDK as `config.tracing` uses it; loaded where spans are exported."""

from typing import cast

from opentelemetry import context
from opentelemetry.context import Context
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, StatusCode, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from config.request_id import current_request_id
from config.tracing import Attributes, Headers, Kind

KINDS: dict[Kind, SpanKind] = {"server": SpanKind.SERVER, "consumer": SpanKind.CONSUMER}
PROPAGATOR = TraceContextTextMapPropagator()


class Exporter:
    """A provider of its own: in the engine's process vLLM has another. Its sampler is what the SDK's variables say."""

    def __init__(self, endpoint: str, service: str) -> None:
        self._provider = TracerProvider(resource=Resource.create({SERVICE_NAME: f"inferscale-{service}"}))
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint=f"{endpoint}/v1/traces")))
        self._tracer = self._provider.get_tracer("inferscale")

    def begin(self, name: str, kind: Kind, headers: Headers) -> "OtlpSpan":
        carrier = {field: str(value) for field in PROPAGATOR.fields if (value := headers.get(field))}
        parent = PROPAGATOR.extract(carrier, context=Context())
        span = self._tracer.start_span(name, context=parent, kind=KINDS[kind])
        span.set_attribute("inferscale.request_id", current_request_id.get())
        # Not taken off again: every request and every task begins with one of its own.
        context.attach(set_span_in_context(span, Context()))
        return OtlpSpan(span)

    def headers(self) -> dict[str, str]:
        carrier = dict[str, str]()
        PROPAGATOR.inject(carrier)
        return carrier

    def close(self) -> None:
        self._provider.shutdown()


class OtlpSpan:
    def __init__(self, span: Span) -> None:
        self._span = span

    def end(self, attributes: Attributes, *, name: str = "", failed: bool = False) -> None:
        self._span.set_attributes(cast("dict[str, str | int | float | bool]", dict(attributes)))
        if name:
            self._span.update_name(name)
        if failed:
            self._span.set_status(StatusCode.ERROR)
        self._span.end()
