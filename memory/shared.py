"""Blobs in an object store that all hosts share, with copies on this host's disk."""

import logging
import math
import os
import time
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from memory.blob import Blob
from memory.codec import BlobCorrupt, blob_from_bytes, blob_to_bytes
from memory.eviction import Room
from memory.objects import Objects
from memory.store import SUFFIX, WHOLE, BlobStore, Shard, key_of, name_of, write_whole

AWAY_SECONDS = 5.0
UNFINISHED_SECONDS = 3600.0
DELETERS = 16
DIGITS = "0123456789abcdef"

logger = logging.getLogger(__name__)


@dataclass(eq=False)
class Coming:
    """A copy under way, and whether its blob was deleted meanwhile."""

    key: str
    is_dropped: bool = False


class SharedStore(BlobStore):
    """What counts is the object store. `read` alone looks at this host's copies first and leaves one behind.

    Copies are what was read or written here last, of `cache_bytes` together; 0: none are made. While the object store
    is away `read` finds copies alone. A deletion removes the copies of its own host; those of others go where they are
    told by `drop_copies`, and where nobody told them, by `sweep`.
    """

    def __init__(self, root: Path, objects: Objects, cache_bytes: int) -> None:
        super().__init__(root)
        self.objects = objects
        self._room = Room(root, f"??/??/*{SUFFIX}", cache_bytes)
        self._lock = Lock()
        self._coming: set[Coming] = set()
        self._away_until = 0.0

    def free_bytes(self) -> None:
        return None

    def write(self, blob: Blob, shard: Shard = WHOLE) -> int:
        """Returns the bytes written, none of which stay if the blob's copies are dropped meanwhile."""
        data, name = blob_to_bytes(blob), name_of(blob.key, shard)
        with self._copying(blob.key) as coming:
            self.objects.put(name, data)
            self._keep(coming, self.root / name, data)
        if coming.is_dropped:
            self.objects.delete([name])
        return len(data)

    def read(self, key: str, shard: Shard = WHOLE) -> Blob | None:
        blob = super().read(key, shard)
        if blob is not None:
            with suppress(FileNotFoundError):
                os.utime(self.path(key, shard))
            return blob
        if time.monotonic() < self._away_until:
            return None
        try:
            with self._copying(key) as coming:
                return self._fetch(key, shard, coming)
        except OSError as error:
            self._away_until = time.monotonic() + AWAY_SECONDS
            logger.warning("blobs that are not on this host count as absent for %d s: %s", AWAY_SECONDS, error)
            return None

    def exists(self, key: str) -> bool:
        return any(True for _ in self._names(key))

    def delete(self, key: str) -> bool:
        """The object first, so that no host copies it any more."""
        names = list(self._names(key))
        self.objects.delete(names)
        return super().delete(key) or bool(names)

    def delete_all(self, keys: Collection[str]) -> None:
        with ThreadPoolExecutor(DELETERS) as pool:
            list(pool.map(self.delete, keys))

    def keys(self, prefix: str = "??", *, written_before: float = math.inf) -> Iterator[str]:
        for name, written in self.objects.list("" if prefix == "??" else prefix):
            if name.endswith(SUFFIX) and written < written_before:
                yield key_of(name)

    def presence(self, turn: int) -> Callable[[str], bool]:
        """One list has a thousand names, and is paid for: the keys with one first digit, of sixteen."""
        first = DIGITS[turn % len(DIGITS)]
        present = {key for second in DIGITS for key in self.keys(first + second)}
        return lambda key: not key.startswith(first) or key in present or self.exists(key)

    def drop_copies(self, keys: Collection[str], shard: Shard) -> None:
        gone = set(keys)
        with self._lock:
            for coming in self._coming:
                coming.is_dropped |= coming.key in gone
        for key in gone:
            self.path(key, shard).unlink(missing_ok=True)

    def sweep(self) -> int:
        removed = self.remove_unfinished(written_before=time.time() - UNFINISHED_SECONDS)
        for folder in self.root.glob("??"):
            copies = list(folder.glob(f"??/*{SUFFIX}"))  # before the list, for a copy is made after its object
            there = {name for name, _ in self.objects.list(folder.name)} if copies else set[str]()
            for copy in copies:
                if copy.relative_to(self.root).as_posix() not in there:
                    copy.unlink(missing_ok=True)
                    removed += 1
        return removed

    def _names(self, key: str) -> Iterator[str]:
        folder = f"{key[:2]}/{key[2:4]}"
        return (name for name, _ in self.objects.list(folder) if key_of(name) == key and name.endswith(SUFFIX))

    def _read_stored(self, key: str, shard: Shard) -> Blob | None:
        return self._fetch(key, shard, None)

    def _fetch(self, key: str, shard: Shard, coming: Coming | None) -> Blob | None:
        """From the object store, leaving a copy if one is to come. An object that is corrupt is removed."""
        name = name_of(key, shard)
        data = self.objects.get(name)
        if data is None:
            return None
        try:
            blob = blob_from_bytes(data, key=key)
        except BlobCorrupt as error:
            logger.warning("%s in %s is removed: %s", name, self.objects.url, error)
            self.objects.delete([name])
            return None
        if coming is not None:
            self._keep(coming, self.root / name, data)
        return blob

    @contextmanager
    def _copying(self, key: str) -> Iterator[Coming]:
        coming = Coming(key)
        with self._lock:
            self._coming.add(coming)
        try:
            yield coming
        finally:
            with self._lock:
                self._coming.discard(coming)

    def _keep(self, coming: Coming, path: Path, data: bytes) -> None:
        """A disk that refuses costs the copy alone."""
        try:
            with self._room.for_file(len(data)) as has_room:
                if has_room:
                    write_whole(path, data, durable=False)
        except OSError as error:
            logger.warning("no copy of blob %s is kept: %s", coming.key, error)
        if coming.is_dropped:
            path.unlink(missing_ok=True)
