"""Advisory locks between processes. The kernel lets go of them when a holder dies, however it dies."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def exclusive(path: Path) -> Iterator[None]:
    """Waits for its turn."""
    descriptor = _open(path)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


class Usage:
    """Counts users without counting: each holds a shared lock, and whoever gets it alone was the last."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def join(self) -> None:
        self._descriptor = _open(self._path)
        fcntl.flock(self._descriptor, fcntl.LOCK_SH)

    def leave(self) -> bool:
        """True when nobody else is left."""
        if self._descriptor is None:
            return False
        descriptor, self._descriptor = self._descriptor, None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        finally:
            os.close(descriptor)
        return True


def _open(path: Path) -> int:
    return os.open(path, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
