"""Blobs come from disk into host rows beside the model's work; what cannot be had is reported, never raised."""

import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
import torch

from inference.engine.loader import Loader
from inference.engine.metadata import EncodePlan, LoadPlan, Slot, WorkerReport
from memory.blob import Blob
from memory.layout import KVLayout, LayerShape
from memory.store import BlobStore, Shard
from memory.tiers.arena import Arena

KEY = "a" * 64
LAYOUT = KVLayout((LayerShape(2, 4),) * 3, "bfloat16")
TOKENS = 5


def some_rows(seed: int = 0) -> torch.Tensor:
    drawn = torch.randn(TOKENS, LAYOUT.row_width, generator=torch.Generator().manual_seed(seed))
    return drawn.bfloat16()


@pytest.fixture
def store(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path)


@pytest.fixture
def loader(store: BlobStore) -> Iterator[Loader]:
    loader = Loader(store, Shard(), Arena(LAYOUT, 20, torch.device("cpu")), None, "model")
    yield loader
    loader.close()


def slot(order: int, first: int) -> Slot:
    return Slot(order, np.arange(first, first + TOKENS, dtype=np.int32))


def load_plan(order: int = 1, digest: str = "d") -> LoadPlan:
    return LoadPlan(KEY, TOKENS, digest, slot(order, 10), None)


def collected(loader: Loader, order: int) -> WorkerReport:
    report, deadline = WorkerReport(), time.monotonic() + 10
    while order not in report.ranks:
        assert time.monotonic() < deadline, "never reported"
        loader.collect(report)
    return report


def test_a_blob_on_disk_comes_into_its_rows(loader: Loader, store: BlobStore) -> None:
    store.write(Blob(KEY, some_rows(), 7, "d", LAYOUT.describe(), "model"))
    loader.load([load_plan()])
    assert collected(loader, 1).filled == {1: 7}
    assert torch.equal(loader.near.rows[10:15], some_rows())


@pytest.mark.parametrize(
    "blob",
    [
        Blob(KEY, some_rows(), 7, "other tokens", LAYOUT.describe(), "model"),
        Blob(KEY, some_rows(), 7, "d", LAYOUT.describe(), "another model"),
        Blob(KEY, some_rows()[:3], 7, "d", LAYOUT.describe(), "model"),
    ],
    ids=["other tokens", "another model", "another length"],
)
def test_a_blob_that_is_not_the_one_wanted_is_lost(loader: Loader, store: BlobStore, blob: Blob) -> None:
    store.write(blob)
    loader.load([load_plan()])
    assert collected(loader, 1).lost == {1}
    assert not loader.near.rows.any()


def test_a_file_that_cannot_be_read_is_lost_and_loading_goes_on(loader: Loader, store: BlobStore) -> None:
    store.path(KEY).mkdir(parents=True)
    loader.load([load_plan()])
    assert collected(loader, 1).lost == {1}
    store.path(KEY).rmdir()
    store.write(Blob(KEY, some_rows(), 7, "d", LAYOUT.describe(), "model"))
    loader.load([load_plan(order=2)])
    assert collected(loader, 2).filled == {2: 7}


def test_an_encoded_blob_is_there_at_once_and_can_be_loaded_before_its_file_is_written(loader: Loader) -> None:
    report = WorkerReport()
    encode = EncodePlan(KEY, "d", 3, 3 + TOKENS, ([1],), slot(1, 0), None)
    loader.save([encode], some_rows(), report)
    assert report.filled == {1: 3}
    assert torch.equal(loader.near.rows[:5], some_rows())
    loader.load([load_plan(order=2)])
    assert collected(loader, 2).filled == {2: 3}
    assert torch.equal(loader.near.rows[10:15], some_rows())


def test_two_encodes_of_one_key_are_both_answered(loader: Loader) -> None:
    """Facts of one owner that are encoded at the same time all bring the owner's header."""
    report = WorkerReport()
    for order, far in ((1, slot(11, 0)), (2, None)):
        plan = EncodePlan(KEY, "d", 0, TOKENS, ([1],), slot(order, 0), far)
        loader.save([plan], some_rows(), report)
    assert 11 in collected(loader, 11).ranks


def test_a_disk_that_refuses_costs_the_file_alone(
    loader: Loader, store: BlobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("memory.store.os.fsync", full)
    report = WorkerReport()
    loader.save([EncodePlan(KEY, "d", 0, TOKENS, ([1],), slot(1, 0), None)], some_rows(), report)
    loader.load([load_plan(order=2)])
    assert collected(loader, 2).lost == {2}
    assert report.filled == {1: 0}
    assert not store.exists(KEY)
