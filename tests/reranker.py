"""A small HTTP server in a reranker's place: tests say what is relevant, and how it fails."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from django.conf import settings as django_settings
from facts import reranking

from tests.quiet_http import QuietHandler

Reply = tuple[int, Any]


class Reranker:
    """Text with `best` in it is relevant, the nearer to its beginning the more. `asked` are the bodies it got."""

    def __init__(self) -> None:
        self.best = "lighthouse"
        self.reply: Callable[[dict[str, Any]], Reply] = self.relevance
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/v1"

    def relevance(self, body: dict[str, Any]) -> Reply:
        """Best first, as rerankers answer."""
        found = [(text.find(self.best), index) for index, text in enumerate(body["documents"])]
        scores = [(0.0 if at < 0 else 1 / (1 + at), index) for at, index in found]
        return 200, {"results": [{"index": n, "relevance_score": score} for score, n in sorted(scores, reverse=True)]}

    def _handler(self) -> type[QuietHandler]:
        reranker = self

        class Handler(QuietHandler, BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                body = json.loads(self.read_data())
                reranker.keys.append(self.headers["authorization"])
                reranker.asked.append(body)
                status, answer = reranker.reply(body) if self.path == "/v1/rerank" else (404, {})
                self.send_data(status, json.dumps(answer).encode())

        return Handler


@contextmanager
def reranking_with(settings: Any) -> Iterator[Reranker]:
    """It is configured, and asked whatever an earlier test found it to be."""
    reranker = Reranker()
    Thread(target=reranker.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    named = {"rerank_url": reranker.url, "rerank_model": "judge", "rerank_key": "a-key"}
    settings.ENV = django_settings.ENV.model_copy(update=named)
    forget_reranker()
    try:
        yield reranker
    finally:
        forget_reranker()
        reranker.server.shutdown()
        reranker.server.server_close()


def forget_reranker() -> None:
    """Its connections, and that it failed."""
    reranking._paused_until = 0.0
    reranking._client.cache_clear()
