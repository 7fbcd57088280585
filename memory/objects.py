"""An S3-compatible object store."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta

import obstore
from obstore.exceptions import BaseError
from obstore.store import S3Store

from memory.store import StoreDown

ANSWER_SECONDS, CONNECT_SECONDS = 30.0, 2.0  # for a whole object, and for the store to be there at all
RETRIES, RETRY_SECONDS = 2, 5.0


class Objects:
    """Objects by name, below the prefix of `s3://bucket/prefix`. Thread-safe; not to be carried over a fork.

    Endpoint, region and credentials are those of the environment, as AWS' own tools read them. Raises StoreDown for
    everything but an object's absence.
    """

    def __init__(self, url: str) -> None:
        with _errors(url):
            self._store = S3Store.from_url(
                url,
                client_options={
                    "allow_http": True,  # an endpoint of ours may have no TLS
                    "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
                    "timeout": timedelta(seconds=ANSWER_SECONDS),
                },
                retry_config={"max_retries": RETRIES, "retry_timeout": timedelta(seconds=RETRY_SECONDS)},
            )
        self.url = url

    def put(self, name: str, data: bytes) -> None:
        """Whole or not at all, and in one request: parts of one that was broken off would stay with nobody's name."""
        with _errors(self.url):
            obstore.put(self._store, name, data, use_multipart=False)

    def get(self, name: str) -> bytes | None:
        with _errors(self.url):
            try:
                return obstore.get(self._store, name).bytes().to_bytes()
            except FileNotFoundError:
                return None

    def list(self, folder: str = "") -> Iterator[tuple[str, float]]:
        """Names below a folder, with the Unix time of writing."""
        with _errors(self.url):
            for page in obstore.list(self._store, folder or None):
                for entry in page:
                    yield entry["path"], entry["last_modified"].timestamp()

    def delete(self, names: Sequence[str]) -> None:
        """Idempotent."""
        if names:
            with _errors(self.url):
                obstore.delete(self._store, names)


@contextmanager
def _errors(url: str) -> Iterator[None]:
    try:
        yield
    except (BaseError, OSError, ValueError) as error:
        raise StoreDown(f"{url}: {str(error).splitlines()[0]}") from error
