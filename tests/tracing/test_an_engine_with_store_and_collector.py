"""The whole product with its blobs in an object store and its spans in a collector."""

from pathlib import Path
from typing import Any

import httpx
import pytest
from tenants.services import api_key_create

from memory.models import served_name
from memory.store import open_store
from tests.factories import people_create
from tests.object_store import ObjectServer
from tests.tracing.collector import Collector
from tests.tracing.processes import running
from tests.tracing.test_processes_share_a_trace import CALLER, TEXT, TRACE
from tests.workers.running.processes import until

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.engine]


def test_a_chat_injects_from_the_object_store_and_is_one_trace_down_to_vllm(
    collector: Collector, object_server: ObjectServer, bucket: str, tmp_path: Path, settings: Any
) -> None:
    key = api_key_create(tenant=people_create().tenant, name="app")[1]
    variables = {**object_server.variables, "INFERSCALE_STORE_URL": bucket}
    body = {"messages": [{"role": "user", "content": TEXT}], "user_id": "ada", "infer": False}
    question = {
        "model": served_name(settings.ENV.model, settings.ENV.home),
        "messages": [{"role": "user", "content": "What does Ada keep behind her house?"}],
        "max_tokens": 4,
        "user": "ada",
    }
    with running(tmp_path, collector, variables, with_engine=True) as env:
        web = httpx.Client(headers={"Authorization": f"Token {key}"}, timeout=60)
        web.post(f"http://127.0.0.1:{env.web_port}/v3/memories/add/", json=body).raise_for_status()
        collector.wait_for(lambda span: span.name == "workers.encode.encode_fact", seconds=120)
        shared = open_store(tmp_path / "elsewhere", bucket)
        until(lambda: len(list(shared.keys())) == 2, "header and fact are in the object store")

        chats = httpx.Client(headers={"Authorization": f"Bearer {key}", "traceparent": CALLER}, timeout=120)
        answer = chats.post(f"{env.engine_base_url}/v1/chat/completions", json=question)
        assert answer.headers["x-inferscale-mode"] == "inject"
        assert int(answer.headers["x-inferscale-tokens-injected"]) > 0
        gateway = collector.wait_for(lambda span: span.service == "inferscale-gateway" and span.trace == TRACE)
        engine = collector.wait_for(lambda span: span.name == "llm_request" and span.trace == TRACE)

    assert gateway.parent == "00f067aa0ba902b7"
    assert (engine.service, engine.parent) == ("inferscale-engine", gateway.span)
    encode = [span for span in collector.spans if span.name == "llm_request" and span.trace != TRACE]
    assert {span.trace for span in encode} & {s.trace for s in collector.spans if s.service == "inferscale-worker"}
    for private in (TEXT, "Ada", "bees", key):
        assert private.encode() not in collector.raw, private
