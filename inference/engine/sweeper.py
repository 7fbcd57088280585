"""Beside the model's work: copies of blobs that were deleted while this engine could not be told. Worker half."""

import logging
from threading import Event, Thread

from memory.store import BlobStore, StoreDown

PERIOD_SECONDS = 3600.0
AGAIN_SECONDS = 60.0

logger = logging.getLogger(__name__)


class Sweeper:
    """Sweeps at once, for orders may have been missed while the engine was down, and then every hour."""

    def __init__(self, store: BlobStore) -> None:
        self.store = store
        self._ends = Event()
        self._thread = Thread(target=self._run, name="sweeper", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._ends.set()

    def _run(self) -> None:
        pause = 0.0
        while not self._ends.wait(pause):
            pause = self._sweep()

    def _sweep(self) -> float:
        """Seconds until the next time."""
        try:
            if removed := self.store.sweep():
                logger.info("%d copies of blobs that are no more are removed", removed)
        except StoreDown as error:
            logger.warning("copies are not swept: %s", error)
            return AGAIN_SECONDS
        except Exception:
            logger.exception("copies are not swept")
        return PERIOD_SECONDS
