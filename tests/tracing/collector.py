"""An OpenTelemetry collector for tests: OTLP over HTTP, protobuf."""

import gzip
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class Told:
    """One span, with its process' service."""

    service: str
    name: str
    trace: str
    span: str
    parent: str
    failed: bool
    attributes: dict[str, Any]


class Collector:
    """`with Collector() as collector`; `raw` is all that came, as it came."""

    def __init__(self) -> None:
        self.spans: list[Told] = []
        self.raw = b""
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "Collector":
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def wait_for(self, fits: Callable[[Told], bool], seconds: float = 60.0) -> Told:
        deadline = time.monotonic() + seconds
        while not (found := [span for span in self.spans if fits(span)]):
            assert time.monotonic() < deadline, f"no such span among {[(s.service, s.name) for s in self.spans]}"
            time.sleep(0.1)
        return found[0]

    def _read(self, body: bytes) -> None:
        self.raw += body
        for of_process in ExportTraceServiceRequest.FromString(body).resource_spans:
            service = _values(of_process.resource.attributes)["service.name"]
            for of_library in of_process.scope_spans:
                for span in of_library.spans:
                    ids = (span.trace_id.hex(), span.span_id.hex(), span.parent_span_id.hex())
                    attributes = _values(span.attributes)
                    self.spans.append(Told(service, span.name, *ids, span.status.code == 2, attributes))

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        collector = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                assert self.path == "/v1/traces"
                collector._read(gzip.decompress(body) if self.headers["content-encoding"] == "gzip" else body)
                self.send_response(200)
                self.send_header("content-length", "0")
                self.end_headers()

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler


def _values(pairs: Any) -> dict[str, Any]:
    return {pair.key: getattr(pair.value, pair.value.WhichOneof("value")) for pair in pairs}
