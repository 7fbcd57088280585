"""An S3-compatible server on a port of its own."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from typing import Any

import httpx
from moto.moto_server.threaded_moto_server import ThreadedMotoServer

numbers = count()


class ObjectServer:
    """`with ObjectServer() as server`; `stop` before the end is an outage."""

    def __enter__(self) -> "ObjectServer":
        self._server: Any = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
        self._server.start()
        _, port = self._server.get_host_and_port()
        self.url = f"http://127.0.0.1:{port}"
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def stop(self) -> None:
        if self._server is not None:
            self._server.stop()
            self._server = None

    @property
    def variables(self) -> Mapping[str, str]:
        """As the client reads them."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "store",
            "AWS_SECRET_ACCESS_KEY": "of tests",
        }

    def make_bucket(self) -> str:
        """A new one's URL, with a prefix."""
        bucket = f"blobs-{next(numbers)}"
        httpx.put(f"{self.url}/{bucket}").raise_for_status()
        return f"s3://{bucket}/some/prefix"


@contextmanager
def environment(variables: Mapping[str, str]) -> Iterator[None]:
    before = dict(os.environ)
    os.environ.update(variables)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)
