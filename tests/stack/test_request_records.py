"""One record a call: what it did and what it cost."""

import json
from typing import Any

import pytest
from tenants.scope import tenant_scope
from usage.models import RequestRecord

from tests.stack.app import CHAT, App
from tests.stack.records import record_of
from tests.stack.stack import Stack

pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True)]
FACTS = ("Alice has a cat called Pepper.", "Alice lives in Lisbon.")
QUESTION = "What is the name of Alice's cat?"


@pytest.fixture
def alice(app: App) -> App:
    app.remember("alice", *FACTS)
    app.until_encoded("alice")
    return app


@pytest.mark.parametrize(("mode", "served"), [("auto", "inject"), ("prompt", "prompt"), ("off", "none")])
def test_a_whole_answer(alice: App, mode: str, served: str) -> None:
    reply = alice.ask("alice", QUESTION, mode=mode)
    record, usage = record_of(alice, reply.response), reply.body["usage"]
    assert (record.mode, record.status, record.model) == (served, 200, alice.model)
    assert (record.facts, record.tokens_injected_planned) == (reply.facts, reply.injected)
    assert (record.facts == 2) == (served != "none")
    assert (record.prompt_tokens, record.output_tokens) == (usage["prompt_tokens"], usage["completion_tokens"])
    assert record.cached_tokens == reply.cached_tokens
    assert_timed(record)


@pytest.mark.parametrize("asks", [True, False], ids=["with usage", "without usage"])
def test_a_stream(alice: App, asks: bool) -> None:
    options = {"stream_options": {"include_usage": True}} if asks else {}
    answer = alice.chat(QUESTION, user="alice", stream=True, **options).response
    assert answer.text.endswith("data: [DONE]\n\n")
    chunks = events(answer.text)
    usages = [chunk["usage"] for chunk in chunks if chunk.get("usage")]
    assert len(usages) == asks
    assert all(chunk["choices"] for chunk in chunks) == (not asks)
    record = record_of(alice, answer)
    assert (record.mode, record.status, record.facts, record.owner_name) == ("inject", 200, 2, "alice")
    assert record.cached_tokens is not None
    assert 0 < record.tokens_injected_planned <= record.cached_tokens < record.prompt_tokens
    assert record.output_tokens > 0
    for usage in usages:
        assert (record.prompt_tokens, record.output_tokens) == (usage["prompt_tokens"], usage["completion_tokens"])
    assert_timed(record)


def test_a_call_that_the_engine_refuses(alice: App) -> None:
    reply = alice.chat(QUESTION, user="alice", max_tokens=-1)
    record = record_of(alice, reply.response)
    assert record.status == reply.response.status_code == 400
    assert record.output_tokens == 0


def test_calls_with_the_same_request_id_are_all_recorded(app: App, stack: Stack) -> None:
    body = {"model": app.model, "messages": [{"role": "user", "content": "Hello"}], "max_tokens": 1}
    for _ in range(2):
        answer = app.engine_api("POST", CHAT, json=body, headers={"x-request-id": "mine"})
        assert answer.headers["x-request-id"] == "mine"
    last = app.engine_api("POST", CHAT, json=body)
    record_of(app, last)
    with tenant_scope(app.tenant):
        assert RequestRecord.objects.filter(request_id="mine").count() == 2
        assert RequestRecord.objects.count() == 3


def assert_timed(record: RequestRecord) -> None:
    assert record.ttft_ms is not None
    assert record.total_ms is not None
    assert 0 < record.ttft_ms <= record.total_ms


def events(text: str) -> list[dict[str, Any]]:
    lines = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: {")]
    return [json.loads(line) for line in lines]
