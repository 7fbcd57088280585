"""Blobs on disk, shared by the engine and the workers of one host or one shared folder."""

import contextlib
import math
import os
import shutil
import uuid
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from memory.blob import Blob, BlobInfo
from memory.codec import BlobCorrupt, blob_from_bytes, blob_to_bytes

SUFFIX = ".safetensors"
WRITING = ".writing"


class StoreDown(OSError):
    """The store cannot be asked now: away, slow, or it refuses us. That says nothing of what it holds."""


@dataclass(frozen=True)
class Shard:
    """Which part of the model's KV a file holds: the rank of a tensor- or pipeline-parallel engine."""

    rank: int = 0
    world: int = 1

    @property
    def suffix(self) -> str:
        return f".{self.rank}-{self.world}{SUFFIX}"


WHOLE = Shard()


class BlobStore:
    """One file a blob and shard. Files appear whole (written aside, then renamed) and are never changed.

    Thread- and process-safe. A file that fails its checksum is removed and counts as absent. Every method but `path`,
    `free_bytes`, `read` and `drop_copies` raises StoreDown where the store is not a folder and cannot be reached.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def free_bytes(self) -> int | None:
        """What may still be written; None where there is no bound."""
        there = next(folder for folder in (self.root, *self.root.parents) if folder.exists())
        return shutil.disk_usage(there).free

    def path(self, key: str, shard: Shard = WHOLE) -> Path:
        return self.root / name_of(key, shard)

    def write(self, blob: Blob, shard: Shard = WHOLE) -> int:
        """Returns the bytes written. Raises OSError when the disk refuses."""
        data = blob_to_bytes(blob)
        write_whole(self.path(blob.key, shard), data)
        return len(data)

    def read(self, key: str, shard: Shard = WHOLE) -> Blob | None:
        """The verified blob, or None when it cannot be had: absent, or corrupt (and now removed)."""
        path = self.path(key, shard)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        try:
            return blob_from_bytes(data, key=key)
        except BlobCorrupt:
            path.unlink(missing_ok=True)
            return None

    def exists(self, key: str) -> bool:
        """Whether any shard is there: a hint, not a proof that it is whole."""
        return self.path(key).exists() or any(True for _ in self._names(key))

    def verify(self, key: str) -> BlobInfo | None:
        """Reads every shard. The blob's facts (bytes summed over shards), or None unless all are there and whole."""
        name = next(self._names(key), None)
        if name is None:
            return None
        world = int(name.removesuffix(SUFFIX).rsplit("-", 1)[1])
        blobs = [self._read_stored(key, Shard(rank, world)) for rank in range(world)]
        if any(blob is None for blob in blobs):
            return None
        whole = [blob for blob in blobs if blob is not None]
        first = whole[0].info
        return BlobInfo(
            key, first.tokens, first.start, first.digest, first.layout, first.fingerprint, sum(b.nbytes for b in whole)
        )

    def delete(self, key: str) -> bool:
        """Remove every shard; whether there was any. Idempotent."""
        found = False
        for path in self.path(key).parent.glob(f"{key}.*-*{SUFFIX}"):
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
                found = True
        return found

    def delete_all(self, keys: Collection[str]) -> None:
        """The same for many."""
        for key in keys:
            self.delete(key)

    def keys(self, prefix: str = "??", *, written_before: float = math.inf) -> Iterator[str]:
        """A key for each file; `prefix` is of two digits, `written_before` a Unix time."""
        for path in self.root.glob(f"{prefix}/??/*{SUFFIX}"):
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_mtime < written_before:
                    yield key_of(path.name)

    def presence(self, turn: int) -> Callable[[str], bool]:
        """As `exists`, for very many keys. Where that is dear, only a part of them is looked for, another each turn."""
        return self.exists

    def remove_unfinished(self, *, written_before: float) -> int:
        """Files of writers that were killed; they may hold KV of what was deleted since. Returns how many."""
        removed = 0
        for path in self.root.glob(f"??/??/*{WRITING}"):
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_mtime < written_before:
                    path.unlink()
                    removed += 1
        return removed

    def drop_copies(self, keys: Collection[str], shard: Shard) -> None:
        """What this host has, beside the store, of blobs that were deleted: with a folder, nothing."""

    def sweep(self) -> int:
        """The same for all that was deleted while nobody told this host; how many copies there were."""
        return 0

    def _names(self, key: str) -> Iterator[str]:
        """Of the blob's files, below the root."""
        folder = self.path(key).parent
        return (f"{key[:2]}/{key[2:4]}/{path.name}" for path in folder.glob(f"{key}.*-*{SUFFIX}"))

    def _read_stored(self, key: str, shard: Shard) -> Blob | None:
        return self.read(key, shard)


def name_of(key: str, shard: Shard) -> str:
    return f"{key[:2]}/{key[2:4]}/{key}{shard.suffix}"


def key_of(name: str) -> str:
    return name.rsplit("/", 1)[-1].split(".", 1)[0]


def write_whole(path: Path, data: bytes, *, durable: bool = True) -> None:
    """A file that appears at once. `durable`: it survives the machine's end. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    aside = path.with_name(f"{path.name}.{uuid.uuid4().hex}{WRITING}")
    try:
        with aside.open("wb") as stream:
            stream.write(data)
            if durable:
                stream.flush()
                os.fsync(stream.fileno())
        aside.replace(path)
    finally:
        aside.unlink(missing_ok=True)


def open_store(folder: Path, url: str = "", cache_bytes: int = 0) -> BlobStore:
    """The folder, or with `url` (`s3://bucket/prefix`) an object store of which the folder keeps so many bytes."""
    if not url:
        return BlobStore(folder)
    from memory.objects import Objects  # its library is loaded only where it is used
    from memory.shared import SharedStore

    return SharedStore(folder, Objects(url), cache_bytes)
