"""A memory added over the API: web, worker and what the worker asks of the engine are one trace, without its text."""

from pathlib import Path

import httpx
import pytest
from tenants.services import api_key_create

from memory.store import BlobStore
from tests.factories import people_create
from tests.tracing.collector import Collector
from tests.tracing.processes import running
from tests.workers.helpers import encoding_into
from tests.workers.troubled_engine import TroubledEngine

pytestmark = pytest.mark.django_db(transaction=True)

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
CALLER = f"00-{TRACE}-00f067aa0ba902b7-01"
TEXT, NAME = "Ada keeps bees behind her house.", "ada.of.the.bees"


def test_from_the_caller_to_the_engine(collector: Collector, tmp_path: Path) -> None:
    key = api_key_create(tenant=people_create().tenant, name="app")[1]
    headers = {"Authorization": f"Token {key}", "traceparent": CALLER, "X-Request-ID": "request-1"}
    body = {"messages": [{"role": "user", "content": TEXT}], "user_id": NAME, "infer": False}
    with TroubledEngine() as engine:
        engine.encode = encoding_into(BlobStore(tmp_path / "blobs"))
        with running(tmp_path, collector, {"INFERSCALE_ENGINE_URL": engine.url}, with_engine=False) as env:
            api = httpx.Client(base_url=f"http://127.0.0.1:{env.web_port}", headers=headers, timeout=60)
            answer = api.post("/v3/memories/add/", params={"q": TEXT}, json=body)
            assert answer.status_code == 200, answer.text
            added = collector.wait_for(lambda span: span.service == "inferscale-web")
            encoded = collector.wait_for(lambda span: span.name == "workers.encode.encode_fact", seconds=120)
            api.get(f"/v2/entities/user/{NAME}/")
            collector.wait_for(lambda span: span.name.startswith("GET "))

    assert (added.name, added.trace, added.parent) == ("POST /v3/memories/add/", TRACE, "00f067aa0ba902b7")
    assert added.attributes["http.response.status_code"] == 200
    assert added.attributes["inferscale.request_id"] == "request-1"

    assert (encoded.service, encoded.trace, encoded.parent) == ("inferscale-worker", TRACE, added.span)
    assert encoded.attributes["inferscale.request_id"] == "request-1"
    assert (encoded.attributes["inferscale.end"], encoded.failed) == ("done", False)
    assert f"00-{TRACE}-{encoded.span}-01" in engine.traces

    for private in (TEXT, "Ada", NAME, key, "bees"):
        assert private.encode() not in collector.raw, private
