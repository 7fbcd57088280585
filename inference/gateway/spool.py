"""Files that wait for what they hold to be stored: what is in one is lost neither with the process nor the database."""

import os
import secrets
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

WAITING, REFUSED = ".json", ".refused"


class Spool:
    """A folder that several processes may share: whoever stores a file's content twice must do no harm."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def put(self, name: str, content: bytes) -> Path:
        """On disk when it returns, whole or not at all. Raises OSError."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        draft = self.folder / f".{name}.{secrets.token_hex(4)}"
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        return draft.rename(self.folder / f"{name}{WAITING}")

    def waiting(self) -> Iterator[tuple[Path, bytes]]:
        """The oldest name first; what another process took meanwhile is passed over."""
        for path in sorted(self.folder.glob(f"*{WAITING}")):
            try:
                yield path, path.read_bytes()
            except FileNotFoundError:
                continue

    def done(self, path: Path) -> None:
        path.unlink(missing_ok=True)

    def refuse(self, path: Path) -> None:
        """Keep what can never be stored, for people to look at."""
        with suppress(FileNotFoundError):  # another process has
            path.replace(path.with_suffix(REFUSED))
