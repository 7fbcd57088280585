"""Blobs on disk or in an object store: what is read is what was written, or nothing."""

import time
from pathlib import Path

import pytest
import torch

from memory.blob import Blob
from memory.layout import KVLayout, LayerShape
from memory.shared import SharedStore
from memory.store import BlobStore, Shard, name_of, open_store

KEY = "0f" * 32
LAYOUT = KVLayout((LayerShape(2, 4), LayerShape(1, 8)), "bfloat16")


def a_blob(key: str = KEY, seed: int = 0) -> Blob:
    rows = torch.randn(5, LAYOUT.row_elements, generator=torch.Generator().manual_seed(seed)).bfloat16()
    return Blob(key, rows, 7, "d" * 32, LAYOUT.describe(), "model")


@pytest.fixture(params=["folder", "object store"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> BlobStore:
    """The object store without copies on disk."""
    return open_store(tmp_path, request.getfixturevalue("bucket") if request.param == "object store" else "")


@pytest.fixture
def folder(tmp_path: Path) -> BlobStore:
    return BlobStore(tmp_path)


def stored_bytes(store: BlobStore) -> bytearray:
    data = store.objects.get(name_of(KEY, Shard())) if isinstance(store, SharedStore) else store.path(KEY).read_bytes()
    assert data is not None
    return bytearray(data)


def store_bytes(store: BlobStore, data: bytes, key: str = KEY) -> None:
    if isinstance(store, SharedStore):
        store.objects.put(name_of(key, Shard()), data)
    else:
        store.path(key).parent.mkdir(parents=True, exist_ok=True)
        store.path(key).write_bytes(data)


def test_a_blob_is_read_back_bit_for_bit(store: BlobStore) -> None:
    store.write(a_blob())
    read = store.read(KEY)
    assert read is not None
    assert torch.equal(read.rows, a_blob().rows)
    assert read.info == a_blob().info


def test_another_store_on_the_folder_finds_it(folder: BlobStore) -> None:
    folder.write(a_blob())
    assert BlobStore(folder.root).verify(KEY) == a_blob().info


@pytest.mark.parametrize("at", [0, 9, 60, 300, -1], ids=str)
def test_a_flipped_bit_anywhere_is_found_and_the_file_dropped(store: BlobStore, at: int) -> None:
    store.write(a_blob())
    data = stored_bytes(store)
    data[at] ^= 0x10
    store_bytes(store, bytes(data))
    assert store.verify(KEY) is None
    assert not store.exists(KEY)


@pytest.mark.parametrize("length", [0, 4, 100, -1], ids=str)
def test_a_truncated_file_is_found_and_dropped(store: BlobStore, length: int) -> None:
    store.write(a_blob())
    store_bytes(store, bytes(stored_bytes(store)[:length]))
    assert store.read(KEY) is None
    assert not store.exists(KEY)


def test_a_file_under_another_key_is_not_served(store: BlobStore) -> None:
    store.write(a_blob())
    other = "1e" * 32
    store_bytes(store, bytes(stored_bytes(store)), other)
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


def test_many_are_deleted_together(store: BlobStore) -> None:
    keys = [f"{number:02x}" * 32 for number in range(20)]
    for key in keys:
        store.write(a_blob(key))
    store.delete_all([*keys[1:], "ff" * 32])
    assert list(store.keys()) == keys[:1]


def test_keys_are_found_by_their_first_digits_and_age(store: BlobStore) -> None:
    other = "1e" * 32
    store.write(a_blob())
    store.write(a_blob(other))
    assert sorted(store.keys()) == [KEY, other]
    assert list(store.keys("1e")) == [other]
    assert list(store.keys("1e", written_before=time.time() - 60)) == []
    assert list(store.keys("1e", written_before=time.time() + 60)) == [other]


def test_a_failed_write_leaves_nothing(folder: BlobStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("memory.store.os.fsync", full_disk)
    with pytest.raises(OSError, match="No space left"):
        folder.write(a_blob())
    assert [path for path in folder.root.rglob("*") if path.is_file()] == []
