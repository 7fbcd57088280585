"""The blobs of an engine and its store, as a worker sees them."""

import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from memory.blob import BlobInfo
from memory.encoding import PlannedSegment
from memory.store import BlobStore, StoreDown
from workers.engines import Engines
from workers.port import EngineAway, EngineDown

WAIT_SECONDS = 10.0
FIRST_PAUSE, LONGEST_PAUSE = 0.01, 0.2


class BlobMissing(Exception):
    """The engine took the request, but no whole blob of these tokens came."""


@dataclass(frozen=True, slots=True)
class Blobs:
    store: BlobStore
    engine: Engines

    def find(self, segment: PlannedSegment, fingerprint: str) -> BlobInfo | None:
        """The segment's blob when it is in the store, whole, and of these tokens and this model.

        A file that is not is removed. Raises EngineDown when another model made it, and when the store is away:
        encoding has to wait.
        """
        with store_trouble():
            info = self.store.verify(segment.key)
            if info is None:
                return None
            if info.fingerprint != fingerprint:
                self.store.delete(segment.key)
                raise EngineDown("the engine runs another model than this worker's configuration names")
            if (info.tokens, info.digest) != (segment.tokens, segment.digest):
                self.store.delete(segment.key)
                return None
            return info

    def wait_for(
        self, segments: Sequence[PlannedSegment], fingerprint: str, seconds: float = WAIT_SECONDS
    ) -> dict[str, BlobInfo]:
        """Those that came in time, by key."""
        until, pause = time.monotonic() + seconds, FIRST_PAUSE
        found: dict[str, BlobInfo] = {}
        while True:
            for segment in segments:
                if segment.key not in found and (info := self.find(segment, fingerprint)):
                    found[segment.key] = info
            if len(found) == len(segments) or time.monotonic() >= until:
                return found
            time.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def forget(self, keys: Collection[str]) -> None:
        """From the store first, so that the engine cannot load them again. Raises EngineDown, EngineBroke."""
        if not keys:
            return
        with store_trouble():
            self.store.delete_all(keys)
        try:
            self.engine.drop(list(keys))
        except EngineAway:
            return  # its memory went with it
        with store_trouble():
            self.store.delete_all(keys)  # written while the engine was being told


@contextmanager
def store_trouble() -> Iterator[None]:
    """What an engine that is away does to a task, a store that is away does too."""
    try:
        yield
    except StoreDown as error:
        raise EngineDown(f"the blob store cannot be asked: {error}") from error
