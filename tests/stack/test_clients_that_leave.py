"""A client that goes away frees what its request held."""

import httpx
import pytest

from tests.stack.app import CHAT, App
from tests.stack.records import record_of
from tests.stack.stack import Stack
from tests.workers.running.processes import until

pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True)]
RUNNING, USAGE = "vllm:num_requests_running", "vllm:kv_cache_usage_perc"
ENDLESS = {"messages": [{"role": "user", "content": "Tell me a long story."}], "max_tokens": 1900, "ignore_eos": True}


@pytest.fixture(autouse=True)
def quiet(stack: Stack) -> None:
    """Jobs of tests before may still ask the engine."""
    until(lambda: holds_nothing(stack), "the engine is idle", 240)


def holds_nothing(stack: Stack) -> bool:
    return stack.metric(RUNNING) == stack.metric(USAGE) == 0


def test_blocks_are_freed_when_a_stream_is_left(app: App, stack: Stack) -> None:
    body = {"model": app.model, **ENDLESS, "stream": True}
    headers = {"authorization": f"Bearer {app.key}"}
    with httpx.stream("POST", f"{stack.env.engine_base_url}{CHAT}", json=body, headers=headers, timeout=60) as answer:
        lines = answer.iter_lines()
        while not next(lines).startswith("data: "):
            pass
        until(lambda: stack.metric(RUNNING) == 1 and stack.metric(USAGE) > 0, "it runs")
    until(lambda: holds_nothing(stack), "nothing is held", 20)
    assert record_of(app, answer).status == 499


def test_blocks_are_freed_when_a_whole_answer_is_not_awaited(app: App, stack: Stack) -> None:
    body = {"model": app.model, **ENDLESS}
    headers = {"authorization": f"Bearer {app.key}", "x-request-id": "impatient"}
    with pytest.raises(httpx.ReadTimeout):
        httpx.post(f"{stack.env.engine_base_url}{CHAT}", json=body, headers=headers, timeout=2)
    until(lambda: holds_nothing(stack), "nothing is held", 20)
    assert record_of(app, "impatient").status == 499
