"""A small OpenAI-compatible server whose answers a test records beforehand."""

import json
import socket
from collections.abc import Callable, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

import jsonschema

from tests.quiet_http import QuietHandler

Body = dict[str, Any]
Reply = tuple[int, Any]


class ChatServer:
    """`find` answers questions for facts, `judge` those about two, `tell` those for a text of many; status 0 breaks the
    connection off.

    The bodies of each kind are kept. Answers with status 200 are held against the schema that the question asks for.
    """

    def __init__(self) -> None:
        self.find: Callable[[Body], Reply] = lambda body: found()
        self.judge: Callable[[Body], Reply] = lambda body: relation()
        self.tell: Callable[[Body], Reply] = lambda body: told(" ".join(statements_of(body)))
        self.finds: list[Body] = []
        self.judges: list[Body] = []
        self.tells: list[Body] = []
        self.keys: list[str | None] = []
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> "ChatServer":
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()

    def answer(self, body: Body) -> Reply:
        name = body["response_format"]["json_schema"]["name"]
        if name == "relation":
            self.judges.append(body)
            return self.judge(body)
        if name in ("text", "profile"):
            self.tells.append(body)
            return self.tell(body)
        self.finds.append(body)
        return self.find(body)

    def _handler(self) -> type[QuietHandler]:
        server = self

        class Handler(QuietHandler, BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                server.keys.append(self.headers["authorization"])
                body = json.loads(self.read_data())
                status, answer = server.answer(body) if self.path == "/v1/chat/completions" else (404, {})
                if not status:
                    self.connection.shutdown(socket.SHUT_RDWR)
                    return
                data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_data(status, data, content_type="application/json")

        return Handler


def says(content: object, *, end: str = "stop") -> Reply:
    """A chat completion with this text, or this as JSON."""
    text = content if isinstance(content, str) or content is None else json.dumps(content)
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": end}
    usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
    return 200, {"id": "chatcmpl-1", "object": "chat.completion", "choices": [choice], "usage": usage}


def found(*facts: tuple[str, int], categories: Sequence[str] = ()) -> Reply:
    """Texts and numbers of turns; the categories are those of each."""
    return says({"facts": [{"text": text, "turn": turn, "categories": list(categories)} for text, turn in facts]})


def told(text: str) -> Reply:
    return says({"text": text})


def statements_of(body: Body) -> list[str]:
    """The statements that a question for a text shows."""
    return [json.loads(line) for line in body["messages"][1]["content"].splitlines()]


def relation(*, same: bool = False, contradicts: bool = False) -> Reply:
    return says({"same": same, "contradicts": contradicts})


def refuses(status: int, message: str = "no") -> Reply:
    return status, {"error": {"message": message, "type": "x", "param": None, "code": None}}


def turns_of(body: Body) -> list[Body]:
    """The turns that a question shows."""
    return [json.loads(line) for line in body["messages"][1]["content"].splitlines()]


def fits(body: Body, content: Sequence[tuple[str, int]], **more: Any) -> bool:
    """Whether facts keep the schema of a question."""
    facts = {"facts": [{"text": text, "turn": turn, **more} for text, turn in content]}
    return bool(jsonschema.Draft202012Validator(body["response_format"]["json_schema"]["schema"]).is_valid(facts))
