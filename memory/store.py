"""Blobs on disk, shared by the engine and the workers of one host or one shared folder."""

import contextlib
import math
import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from memory.blob import Blob, BlobInfo
from memory.codec import BlobCorrupt, blob_from_bytes, blob_to_bytes

SUFFIX = ".safetensors"
WRITING = ".writing"


@dataclass(frozen=True)
class Shard:
    """Which part of the model's KV a file holds: the rank of a tensor- or pipeline-parallel engine."""

    rank: int = 0
    world: int = 1

    @property
    def suffix(self) -> str:
        return f".{self.rank}-{self.world}{SUFFIX}"


class BlobStore:
    """One file a blob and shard. Files appear whole (written aside, then renamed) and are never changed.

    Thread- and process-safe. A file that fails its checksum is removed and counts as absent.
    """

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, key: str, shard: Shard = Shard()) -> Path:
        return self.root / key[:2] / key[2:4] / (key + shard.suffix)

    def write(self, blob: Blob, shard: Shard = Shard()) -> int:
        """Returns the bytes written. Raises OSError when the disk refuses."""
        path = self.path(blob.key, shard)
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = path.with_name(f"{path.name}.{uuid.uuid4().hex}{WRITING}")
        data = blob_to_bytes(blob)
        try:
            with aside.open("wb") as stream:
                stream.write(data)
                stream.flush()
                os.fsync(stream.fileno())
            aside.replace(path)
        finally:
            aside.unlink(missing_ok=True)
        return len(data)

    def read(self, key: str, shard: Shard = Shard()) -> Blob | None:
        """The verified blob, or None when it is absent or was corrupt (and is now removed)."""
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
        """Whether any shard is on disk: a hint, not a proof that it is whole."""
        return self.path(key).exists() or any(True for _ in self._shards(key))

    def verify(self, key: str) -> BlobInfo | None:
        """Reads every shard. The blob's facts (bytes summed over shards), or None unless all are there and whole."""
        paths = list(self._shards(key))
        if not paths:
            return None
        world = int(paths[0].name.removesuffix(SUFFIX).rsplit("-", 1)[1])
        blobs = [self.read(key, Shard(rank, world)) for rank in range(world)]
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
        for path in self._shards(key):
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
                found = True
        return found

    def keys(self, prefix: str = "??", *, written_before: float = math.inf) -> Iterator[str]:
        """A key for each file; `prefix` is of two digits, `written_before` a Unix time."""
        for path in self.root.glob(f"{prefix}/??/*{SUFFIX}"):
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_mtime < written_before:
                    yield path.name.split(".", 1)[0]

    def remove_unfinished(self, *, written_before: float) -> int:
        """Files of writers that were killed; they may hold KV of what was deleted since. Returns how many."""
        removed = 0
        for path in self.root.glob(f"??/??/*{WRITING}"):
            with contextlib.suppress(FileNotFoundError):
                if path.stat().st_mtime < written_before:
                    path.unlink()
                    removed += 1
        return removed

    def _shards(self, key: str) -> Iterator[Path]:
        return self.path(key).parent.glob(f"{key}.*-*{SUFFIX}")
