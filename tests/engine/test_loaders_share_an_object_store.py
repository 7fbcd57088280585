"""What one engine's loader keeps in an object store another's loads, and a deletion reaches both disks."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import torch

from inference.engine.loader import Loader
from inference.engine.metadata import EncodePlan, WorkerReport
from inference.engine.sweeper import Sweeper
from memory.store import Shard, open_store
from memory.tiers.arena import Arena
from tests.engine.test_loader import KEY, LAYOUT, TOKENS, collected, load_plan, slot, some_rows


@pytest.fixture
def loaders(bucket: str, tmp_path: Path) -> Iterator[tuple[Loader, Loader]]:
    """Of two hosts."""
    with ExitStack() as stack:
        pair = []
        for host in ("a", "b"):
            store = open_store(tmp_path / host, bucket, 1 << 20)
            loader = Loader(store, Shard(), Arena(LAYOUT, 20, torch.device("cpu")), None, "model")
            stack.callback(loader.close)
            pair.append(loader)
        yield pair[0], pair[1]


def encode(loader: Loader) -> None:
    far = slot(9, 0)
    loader.save([EncodePlan(KEY, "d", 3, 3 + TOKENS, ([1],), slot(1, 0), far)], some_rows(), WorkerReport())
    collected(loader, far.order)


def encode_and_load(a: Loader, b: Loader) -> None:
    """What one encodes, the other has a copy of."""
    encode(a)
    b.load([load_plan()])
    collected(b, 1)


def test_another_engine_loads_what_one_encoded(loaders: tuple[Loader, Loader]) -> None:
    a, b = loaders
    encode(a)
    b.load([load_plan()])
    assert collected(b, 1).filled == {1: 3}
    assert torch.equal(b.near.rows[10:15], some_rows())
    assert b.store.path(KEY).is_file()


def test_a_deleted_blob_is_on_neither_disk(loaders: tuple[Loader, Loader]) -> None:
    a, b = loaders
    encode_and_load(a, b)
    a.store.delete(KEY)
    b.drop_copies([KEY])
    assert [path for store in (a.store, b.store) for path in store.root.rglob("*") if path.is_file()] == []
    b.load([load_plan(order=2)])
    assert collected(b, 2).lost == {2}


def test_a_copy_that_cannot_be_removed_costs_no_step(loaders: tuple[Loader, Loader]) -> None:
    """A folder in its place: whatever the disk's reason is."""
    a, _ = loaders
    a.store.path(KEY).mkdir(parents=True)
    a.drop_copies([KEY, "b" * 64])
    assert a.store.path(KEY).exists()


def test_an_engine_that_was_not_told_finds_out_when_it_starts(loaders: tuple[Loader, Loader]) -> None:
    a, b = loaders
    encode_and_load(a, b)
    a.store.delete(KEY)
    sweeper = Sweeper(b.store)
    try:
        deadline = time.monotonic() + 10
        while b.store.path(KEY).exists():
            assert time.monotonic() < deadline, "the copy stays"
            time.sleep(0.05)
    finally:
        sweeper.close()
