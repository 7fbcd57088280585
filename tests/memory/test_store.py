"""Blobs on disk: what is read is what was written, or nothing."""

from pathlib import Path

import pytest
import torch

from memory.blob import Blob
from memory.layout import KVLayout, LayerShape
from memory.store import BlobStore, Shard

KEY = "0f" * 32
LAYOUT = KVLayout((LayerShape(2, 4), LayerShape(1, 8)), "bfloat16")


def a_blob(key: str = KEY, seed: int = 0) -> Blob:
    rows = torch.randn(5, LAYOUT.row_elements, generator=torch.Generator().manual_seed(seed)).bfloat16()
    return Blob(key, rows, 7, "d" * 32, LAYOUT.describe(), "model")


@pytest.fixture
def store(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path)


def test_a_blob_is_read_back_bit_for_bit(store: BlobStore) -> None:
    store.write(a_blob())
    read = store.read(KEY)
    assert read is not None
    assert torch.equal(read.rows, a_blob().rows)
    assert read.info == a_blob().info


def test_another_store_on_the_folder_finds_it(store: BlobStore) -> None:
    store.write(a_blob())
    assert BlobStore(store.root).verify(KEY) == a_blob().info


@pytest.mark.parametrize("at", [0, 9, 60, 300, -1], ids=str)
def test_a_flipped_bit_anywhere_is_found_and_the_file_dropped(store: BlobStore, at: int) -> None:
    store.write(a_blob())
    path = store.path(KEY)
    data = bytearray(path.read_bytes())
    data[at] ^= 0x10
    path.write_bytes(data)
    assert store.verify(KEY) is None
    assert not store.exists(KEY)


@pytest.mark.parametrize("length", [0, 4, 100, -1], ids=str)
def test_a_truncated_file_is_found_and_dropped(store: BlobStore, length: int) -> None:
    store.write(a_blob())
    path = store.path(KEY)
    path.write_bytes(path.read_bytes()[:length])
    assert store.read(KEY) is None
    assert not path.exists()


def test_a_file_under_another_key_is_not_served(store: BlobStore) -> None:
    store.write(a_blob())
    other = "1e" * 32
    store.path(other).parent.mkdir(parents=True)
    store.path(KEY).rename(store.path(other))
    assert store.read(other) is None


def test_a_blob_is_whole_only_with_every_rank(store: BlobStore) -> None:
    store.write(a_blob(), Shard(0, 2))
    assert store.verify(KEY) is None
    store.write(a_blob(), Shard(1, 2))
    info = store.verify(KEY)
    assert info is not None
    assert info.nbytes == 2 * a_blob().nbytes


def test_deleting_removes_every_rank_and_can_be_repeated(store: BlobStore) -> None:
    store.write(a_blob(), Shard(0, 2))
    store.write(a_blob(), Shard(1, 2))
    assert store.delete(KEY)
    assert not store.delete(KEY)
    assert list(store.keys()) == []


def test_a_failed_write_leaves_nothing(store: BlobStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("memory.store.os.fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        store.write(a_blob())
    assert [path for path in store.root.rglob("*") if path.is_file()] == []
