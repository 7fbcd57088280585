"""An engine whose blobs are in an object store: encoded into it, injected from it, and deletions reach its disk."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from memory.contracts import DropParams
from memory.objects import Objects
from memory.shared import SharedStore
from memory.store import BlobStore
from tests.engine.harness import Engine, Prompt, wait_until_written
from tests.object_store import ObjectServer

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def shared(object_server: ObjectServer, tmp_path_factory: pytest.TempPathFactory) -> SharedStore:
    """As a worker of another host has it."""
    return SharedStore(tmp_path_factory.mktemp("elsewhere"), Objects(object_server.make_bucket()), 0)


@pytest.fixture(scope="module")
def engine(home: Path, store: Path, shared: SharedStore) -> Iterator[Engine]:
    connector = {"store_url": shared.objects.url, "store_cache_bytes": 1 << 30}
    with Engine(home, store, connector=connector, block_size=32) as engine:
        yield engine


def test_encoded_there_injected_from_there_and_deleted_everywhere(engine: Engine, shared: SharedStore) -> None:
    prompt = Prompt(engine, "shared")
    copies = [BlobStore(engine.store).path(key) for key in prompt.keys]
    text = engine.ask(prompt.ids)

    engine.ask(prompt.ids, prompt.encode, max_tokens=1)
    wait_until_written(shared, prompt.keys)
    assert all(copy.is_file() for copy in copies)

    drop = DropParams(tuple(prompt.keys)).to_params()
    engine.ask(prompt.ids[-4:], drop, max_tokens=1)
    assert not any(copy.exists() for copy in copies)

    injected = engine.ask(prompt.ids, prompt.inject)
    assert injected.cached_tokens == len(prompt.prefix)
    assert injected.token_ids == text.token_ids
    assert all(copy.is_file() for copy in copies)

    shared.delete_all(prompt.keys)
    engine.ask(prompt.ids[-4:], drop, max_tokens=1)
    assert not any(copy.exists() for copy in copies)
    gone = engine.ask(prompt.ids, prompt.inject)
    assert gone.cached_tokens == 0
    assert gone.token_ids == text.token_ids
