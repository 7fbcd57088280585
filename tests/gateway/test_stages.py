"""A plan says how long its steps took, in the form of the Server-Timing header."""

from time import perf_counter

from tenants.models import Tenant

from inference.gateway.planner import plan_request
from inference.gateway.runtime import Runtime
from inference.gateway.stages import Stages, read_stages
from tests.factories import add_facts
from tests.gateway.helpers import ask, chat_key_of


def test_every_step_begins_where_the_one_before_ended() -> None:
    started = perf_counter() - 1
    stages = Stages(started)
    stages.end("read")
    stages.end("key")
    assert 1000 <= stages.ms["read"] < 1500
    assert 0 <= stages.ms["key"] < 500
    assert sum(stages.ms.values()) <= (perf_counter() - started) * 1000


def test_the_header_is_read_as_it_was_written() -> None:
    stages = Stages()
    stages.ms = {"key": 1.25, "embed": 0.5}
    assert stages.header == "key;dur=1.250, embed;dur=0.500"
    assert read_stages(stages.header) == stages.ms


def test_others_metrics_are_read_too_and_those_without_a_duration_left_out() -> None:
    assert read_stages('cache;desc="hit", db; dur=53.2 ;desc=x, miss') == {"db": 53.2}
    assert read_stages("") == {}


def test_a_chat_with_memory_tells_its_steps_in_their_order(runtime: Runtime, tenant: Tenant) -> None:
    add_facts(tenant, "Bob lives in Lisbon.")
    plan = ask(runtime, chat_key_of(tenant), user="alice")
    assert list(read_stages(plan.headers["server-timing"])) == [
        *("read", "key", "owner", "session", "facts", "words", "embed", "rank", "prompt", "segments"),
    ]


def test_what_was_waited_before_planning_counts_as_reading(runtime: Runtime, tenant: Tenant) -> None:
    body = b'{"model": "m", "messages": [{"role": "user", "content": "Hi"}]}'
    started = perf_counter() - 2
    plan = plan_request(runtime, raw_key=chat_key_of(tenant), raw_body=body, is_chat=True, started=started)
    assert list(plan.stages.ms) == ["read", "key"]
    assert plan.stages.ms["read"] >= 2000
