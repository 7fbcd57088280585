"""Tracing and the object store cost nothing where they are not asked for; what is asked of others carries the trace."""

import json
import os
import subprocess
import sys

import pytest
from config.env import ROOT
from config.request_id import current_request_id, request_headers
from config.tracing import NO_SPAN, begin_span, end_tracing, trace_headers

from tests.tracing.collector import Collector

LOADED = """
import json, sys
{code}
print(json.dumps(sorted({{*sys.modules}} & {{"config.otlp", "opentelemetry.exporter", "obstore"}})))
"""
WEB = "import config.asgi"
WORKER = "import django; django.setup(); import workers.tasks; from workers.parts import blob_store; blob_store()"


@pytest.mark.parametrize(("code", "module"), [(WEB, "config.web_settings"), (WORKER, "config.settings")])
@pytest.mark.parametrize("endpoint", ["", "http://127.0.0.1:9"])
def test_processes_load_it_only_where_it_is_configured(code: str, module: str, endpoint: str) -> None:
    variables = {"DJANGO_SETTINGS_MODULE": module, "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint}
    variables["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "platform")])
    command = [sys.executable, "-c", LOADED.format(code=code)]
    output = subprocess.run(
        command, env={**os.environ, **variables}, cwd=ROOT, capture_output=True, text=True, check=True
    )
    expected = ["config.otlp", "opentelemetry.exporter"] if endpoint and code == WEB else []
    assert json.loads(output.stdout.splitlines()[-1]) == expected


def test_without_one_there_is_no_span_and_no_header() -> None:
    assert begin_span("request", "server", {}) is NO_SPAN
    assert trace_headers() == {}


def test_what_is_asked_of_others_names_request_and_span(collector: Collector) -> None:
    current_request_id.set("request-3")
    span = begin_span("request", "server", {})
    headers = request_headers()
    span.end({}, failed=True)
    end_tracing()
    (told,) = collector.spans
    assert headers["X-Request-ID"] == "request-3"
    assert headers["traceparent"].split("-")[1:3] == [told.trace, told.span]
    assert (told.service, told.failed, told.parent) == ("inferscale-tests", True, "")


def test_each_span_begins_anew(collector: Collector) -> None:
    """Threads and contexts are used again: what a request names is its parent, not what ran there before."""
    for name in ("one", "other"):
        begin_span(name, "consumer", {}).end({})
    end_tracing()
    assert len({span.trace for span in collector.spans}) == 2
    assert [span.parent for span in collector.spans] == ["", ""]


def test_a_collector_that_is_away_is_no_matter(collector: Collector) -> None:
    collector.__exit__()
    begin_span("request", "server", {}).end({})
    end_tracing()
