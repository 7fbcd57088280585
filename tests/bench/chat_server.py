"""A chat server on a real socket that streams as vLLM does, and counts who asked for what."""

import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class ChatServer(ThreadingHTTPServer):
    """`refuses`: users who get a 500; `shortens`: users whose answers lack a token; `modes`: what becomes of which."""

    daemon_threads = True
    refuses: frozenset[str] = frozenset()
    shortens: frozenset[str] = frozenset()

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.asked: Counter[str] = Counter()
        self.questions: Counter[str] = Counter()
        self.modes = {"auto": "inject", "prompt": "prompt", "off": "none"}
        self.bodies: list[dict[str, Any]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0"
    server: ChatServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        user = body["memory"]["user_id"]
        self.server.asked[user] += 1
        self.server.bodies.append(body)
        self.server.questions[body["messages"][-1]["content"]] += 1
        if user in self.server.refuses:
            self.send_error(500, "refused")
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("x-inferscale-mode", self.server.modes[body["memory"]["mode"]])
        self.end_headers()
        count = body["max_tokens"] - (user in self.server.shortens)
        self._event({"choices": [{"delta": {"role": "assistant", "content": ""}}]})
        for _ in range(count):
            self._event({"choices": [{"delta": {"content": "a"}}]})
        self._event({"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": count}})

    def _event(self, content: dict[str, Any]) -> None:
        self.wfile.write(b"data: " + json.dumps(content, separators=(",", ":")).encode() + b"\n\n")

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    with ChatServer() as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
