"""A judge model's verdicts: asked once an answer, kept, and compared between modes."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from inference.bench.accuracy.judge import Judge, JudgeError, judge_all, verdict
from inference.bench.accuracy.locomo import Conversation, read_conversations
from inference.bench.accuracy.records import QuestionRow, Records
from inference.bench.cli.accuracy import judge_of
from inference.bench.errors import BenchError
from tests.bench.conversation import write_conversation


class JudgeServer(ThreadingHTTPServer):
    """Says RIGHT where the gold answer stands in the answer; `bodies` and `keys` are what it was asked with."""

    daemon_threads = True
    says: str | None = None

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.bodies: list[dict[str, Any]] = []
        self.keys: set[str | None] = set()


class _Handler(BaseHTTPRequestHandler):
    server: JudgeServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.bodies.append(body)
        self.server.keys.add(self.headers["authorization"])
        gold, answer = (line.split(": ", 1)[1] for line in body["messages"][1]["content"].split("\n")[1:])
        said = self.server.says or ("RIGHT." if gold in answer else "WRONG")
        content = json.dumps({"choices": [{"message": {"content": said}}]}).encode()
        self.send_response(200 if self.path == "/v1/chat/completions" else 404)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[JudgeServer]:
    with JudgeServer() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def conversation(tmp_path: Path) -> Conversation:
    (found,) = read_conversations(write_conversation(tmp_path / "own.json"))
    return found


def records(path: Path) -> Records:
    made = Records(path)
    answers = {"prompt": ("It is Comet.", "Bergen"), "turns(2)": ("It is Comet.", "Oslo")}
    made.add(
        QuestionRow("own-1", number, 4, mode, 0.0, True, 1.0, 1, 1, 0.5, 9, 0, text)
        for mode, texts in answers.items()
        for number, text in enumerate(texts)
    )
    return made


def judge_at(server: JudgeServer, path: str = "/v1") -> Judge:
    return Judge(f"http://127.0.0.1:{server.server_address[1]}{path}", "big", "secret")


def test_every_answer_gets_a_verdict_equal_ones_together_and_none_twice(
    server: JudgeServer, conversation: Conversation, tmp_path: Path
) -> None:
    made, done = records(tmp_path / "r.jsonl.gz"), list[int]()
    judge_all(judge_at(server), [conversation], made, done.append)
    expected = {
        ("own-1", 0, "prompt"): True,
        ("own-1", 1, "prompt"): True,
        ("own-1", 0, "turns(2)"): True,
        ("own-1", 1, "turns(2)"): False,
    }
    assert made.judged == Records(tmp_path / "r.jsonl.gz").judged == expected
    assert (len(server.bodies), sum(done), server.keys) == (3, 4, {"Bearer secret"})
    assert {body["model"] for body in server.bodies} == {"big"}
    judge_all(judge_at(server), [conversation], Records(tmp_path / "r.jsonl.gz"), done.append)
    assert len(server.bodies) == 3


@pytest.mark.parametrize("path", ["/elsewhere", ""])
def test_an_endpoint_that_gives_no_verdict_ends_it_with_its_name(
    server: JudgeServer, conversation: Conversation, tmp_path: Path, path: str
) -> None:
    made = records(tmp_path / "r.jsonl.gz")
    with pytest.raises(JudgeError, match=r"the judge at http://127\.0\.0\.1"):
        judge_all(judge_at(server, path), [conversation], made, lambda _: None)
    assert made.judged == {}


@pytest.mark.parametrize(
    ("said", "right"),
    [("RIGHT", True), ("right.", True), ("**RIGHT**", True), ("WRONG", False), ("Not RIGHT", False), ("", False)],
)
def test_only_a_clear_right_is_right(said: str, right: bool) -> None:
    assert verdict(said) is right


def test_endpoint_and_model_go_together(tmp_path: Path) -> None:
    (tmp_path / "key").write_text("secret\n")
    assert judge_of(None, None, None) is None
    assert judge_of("http://a", "b", tmp_path / "key") == Judge("http://a", "b", "secret")
    for url, model in (("http://a", None), (None, "b")):
        with pytest.raises(BenchError, match="go together"):
            judge_of(url, model, None)
