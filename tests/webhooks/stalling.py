"""Servers that keep whoever sends them a webhook waiting, each in its own way."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from socketserver import StreamRequestHandler, ThreadingTCPServer
from threading import Event, Thread


class Server(ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False


@contextmanager
def dripping(first: bytes, again: bytes = b"", *, pause: float = 0.05) -> Iterator[str]:
    """URL of a server that answers `first` and then `again` without end."""
    over = Event()

    class Handler(StreamRequestHandler):
        def handle(self) -> None:
            self.request.recv(65536)
            with suppress(OSError):
                self.wfile.write(first)
                while not over.wait(pause):
                    self.wfile.write(again)

    with Server(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_address[1]}/hook"
        over.set()
        server.shutdown()


@contextmanager
def full() -> Iterator[str]:
    """URL of a server whose queue of connections is full and stays so."""
    with ExitStack() as stack:
        server = stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=0))
        for _ in range(3):
            client = stack.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(server.getsockname())
        yield f"http://127.0.0.1:{server.getsockname()[1]}/hook"
