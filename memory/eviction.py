"""Keeps a folder's files below so many bytes."""

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

SCANS = 64


class Room:
    """The files least recently used leave `root` for those to come; a file's time of change is that of its last use.

    Thread-safe. The files are counted anew whenever a 64th of the bound was written, so that each further process that
    writes to the folder exceeds the bound by so much at most.
    """

    def __init__(self, root: Path, pattern: str, bound: int) -> None:
        self.root, self.pattern, self.bound = root, pattern, bound
        self._lock = Lock()
        self._slack = bound // SCANS
        self._written = bound  # unknown: counted before the first file
        self._coming = 0

    @contextmanager
    def for_file(self, size: int) -> Iterator[bool]:
        """Around the writing of a file of so many bytes; whether there is room for it."""
        if size > self.bound:
            yield False
            return
        with self._lock:
            self._written += size
            self._coming += size
            if self._written > self._slack:
                self._evict(self.bound - max(self._slack, self._coming))
                self._written = self._coming
        try:
            yield True
        finally:
            with self._lock:
                self._coming -= size

    def _evict(self, most: int) -> None:
        files = []
        for path in self.root.glob(self.pattern):
            with contextlib.suppress(FileNotFoundError):
                stat = path.stat()
                files.append((stat.st_mtime_ns, stat.st_size, path))
        total = sum(size for _, size, _ in files)
        for _, size, path in sorted(files):
            if total <= most:
                break
            path.unlink(missing_ok=True)
            total -= size
