"""The engine says which blobs it has in memory, and what requests found there."""

import pytest
from prometheus_client import generate_latest
from usage.engine_metrics import EngineMetrics, parse_metrics

from memory.contracts import DropParams, HeldParams, MoveParams, unpack_keys
from memory.store import BlobStore
from tests.engine.harness import Engine, Prompt, wait_until_written

pytestmark = pytest.mark.engine


def held(engine: Engine, most: int = 1000) -> list[str]:
    params = engine.ask([0], HeldParams(most).to_params(), max_tokens=1).params
    assert params is not None
    return unpack_keys(params["held"]["host"])


def told() -> EngineMetrics:
    return parse_metrics(generate_latest().decode())


def test_what_is_encoded_is_held_until_it_is_moved_or_dropped(engine: Engine) -> None:
    assert held(engine) == []
    prompt = Prompt(engine, "kept")
    engine.ask(prompt.ids, prompt.encode, max_tokens=1)
    wait_until_written(BlobStore(engine.store), prompt.keys)
    assert set(held(engine)) == set(prompt.keys)
    assert len(held(engine, most=3)) == 3
    engine.ask([0], MoveParams(tuple(prompt.keys[:2]), "disk").to_params(), max_tokens=1)
    engine.ask([0], DropParams((prompt.keys[-1],)).to_params(), max_tokens=1)
    assert set(held(engine)) == set(prompt.keys[2:-1])


def test_what_was_found_in_memory_and_read_from_disk_is_counted(engine: Engine) -> None:
    prompt = Prompt(engine, "counted")
    engine.ask(prompt.ids, prompt.encode, max_tokens=1)
    wait_until_written(BlobStore(engine.store), prompt.keys)
    engine.ask([0], MoveParams(tuple(prompt.keys[-4:]), "disk").to_params(), max_tokens=1)
    before = told()
    assert engine.ask(prompt.ids, prompt.inject).cached_tokens == len(prompt.prefix)
    engine.ask(prompt.ids)  # the connector's report comes with a step
    after, count = told(), len(prompt.keys)
    assert after.near.lookups - before.near.lookups == count
    assert after.near.found - before.near.found == count - 4
    assert after.disk_hits - before.disk_hits == 4
