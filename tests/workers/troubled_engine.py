"""A small HTTP server in the engine's place, for what a sound engine cannot be brought to do."""

import json
import socket
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from workers.model import encoding_model

Body = dict[str, Any]
Reply = tuple[int, Body]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def accept_all(body: Body) -> Reply:
    spans = body["kv_transfer_params"].get("spans", [])
    return 200, {"choices": [], "kv_transfer_params": {"accepted": [span["key"] for span in spans]}}


class TroubledEngine:
    """`encode` answers encode requests, `drop` drop requests; both kinds of bodies are kept."""

    def __init__(self) -> None:
        self.encode: Callable[[Body], Reply] = accept_all
        self.drop: Callable[[Body], Reply] = accept_all
        self.encodes: list[Body] = []
        self.drops: list[Body] = []
        self.keys: list[str] = []
        self.max_model_len = 8192
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    @property
    def dropped(self) -> set[str]:
        return {key for body in self.drops for key in body["kv_transfer_params"]["keys"]}

    def __enter__(self) -> "TroubledEngine":
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, body: Body) -> Reply:
        if body["kv_transfer_params"]["op"] == "drop":
            self.drops.append(body)
            return self.drop(body)
        self.encodes.append(body)
        return self.encode(body)

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        engine = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self._send(200, {"data": [{"id": encoding_model().name, "max_model_len": engine.max_model_len}]})

            def do_POST(self) -> None:
                engine.keys.append(self.headers["authorization"])
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                status, answer = engine.answer(body)
                if status:
                    self._send(status, answer)
                else:
                    self.connection.shutdown(socket.SHUT_RDWR)

            def _send(self, status: int, answer: Body) -> None:
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, format: str, *args: object) -> None:
                pass

        return Handler
