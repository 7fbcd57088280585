"""The engine's gateway over HTTP, with a server behind it that only echoes: explaining a chat needs no model."""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Thread
from time import sleep

import uvicorn

from inference.gateway.middleware import Gateway
from inference.gateway.runtime import Runtime
from tests.gateway.echo import echo
from tests.gateway.helpers import close_connections
from tests.workers.troubled_engine import free_port


@contextmanager
def running_gateway(runtime: Runtime) -> Iterator[str]:
    """Its base URL."""
    gateway, port = Gateway(echo), free_port()
    gateway.service._runtime = runtime
    config = uvicorn.Config(gateway, port=port, lifespan="off", log_level="warning")
    server = uvicorn.Server(config)
    thread = Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        sleep(0.02)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join()
        close_connections()
