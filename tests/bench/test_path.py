"""A request's way: the gateway's steps, the engine's own times, and what is left around them."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from inference.bench import path
from inference.bench.chat import Mode, TimedAnswer
from inference.bench.errors import BenchError
from inference.bench.path import API, AROUND, PREFILL, PREFILLED, QUEUE, QUEUED, TTFT, EngineTimes, measure_path
from inference.bench.report.path import WHOLE, path_grid


class MetricsServer(HTTPServer):
    """A metrics page of an engine that has served `requests`, each of which took the same times."""

    requests = 0
    seconds = {TTFT: 0.012, QUEUED: 0.002, PREFILLED: 0.007}

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    @property
    def page(self) -> str:
        lines = [
            f'{name}_{part}{{engine="0"}} {value * self.requests}'
            for name, seconds in self.seconds.items()
            for part, value in (("sum", seconds), ("count", 1))
        ]
        return "\n".join(lines) + "\n"


class _Handler(BaseHTTPRequestHandler):
    server: MetricsServer

    def do_GET(self) -> None:
        self.send_response(200)
        self.end_headers()
        self.wfile.write(self.server.page.encode())

    def log_message(self, *_: object) -> None:
        pass


@contextmanager
def metrics_server() -> Iterator[MetricsServer]:
    with MetricsServer(("127.0.0.1", 0), _Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()


def answer_of(mode: Mode) -> TimedAnswer:
    return TimedAnswer(mode, "", 20.0, 5, 100, 80, 80, {"key": 1.0, "embed": 2.5})


def test_steps_add_up_to_the_time_to_first_token() -> None:
    with metrics_server() as server:
        engine = EngineTimes(server.url)
        server.requests += 1
        steps = path.path_steps(answer_of("inject"), engine.of_last())
    assert steps == pytest.approx(
        {AROUND: 4.5, "gateway: key": 1.0, "gateway: embed": 2.5, API: 3.0, QUEUE: 2.0, PREFILL: 7.0}
    )


def test_an_engine_that_others_use_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(path, "OBSERVED_SECONDS", 0.05)
    with metrics_server() as server:
        engine = EngineTimes(server.url)
        with pytest.raises(BenchError, match="served 0 requests"):
            engine.of_last()
        server.requests += 2
        with pytest.raises(BenchError, match="served 2 requests"):
            engine.of_last()


def test_modes_take_turns_with_the_same_question_and_warm_up_does_not_count() -> None:
    asked: list[tuple[str, Mode]] = []
    with metrics_server() as server:

        def ask_in(mode: Mode, question: str) -> TimedAnswer:
            asked.append((question, mode))
            server.requests += 1
            return answer_of(mode)

        modes: tuple[Mode, ...] = ("prompt", "inject")
        ask = {mode: lambda question, mode=mode: ask_in(mode, question) for mode in modes}
        done: list[int] = []
        rounds = list(measure_path(ask, EngineTimes(server.url), rounds=2, seed=1, progress=done.append))
    assert [mode for _, mode in asked] == list(modes) * (2 + path.WARM_UP)
    assert len({question for question, _ in asked}) == 2 + path.WARM_UP
    assert done == [1, 2]
    rows = path.path_rows(rounds[-1], {"shape": "tiny", "run": "one"}, k=5)
    assert [(row["mode"], row["steps"][PREFILL]) for row in rows] == [("prompt", [7.0, 7.0]), ("inject", [7.0, 7.0])]


def test_the_table_has_a_line_a_step_and_their_sum() -> None:
    common = {"kind": "path", "shape": "tiny", "k": 50, "run": "one"}
    none = {**common, "mode": "none", "steps": {AROUND: [1.0, 1.0], PREFILL: [4.0, 6.0]}}
    inject = {
        **common,
        "mode": "inject",
        "steps": {AROUND: [1.0, 1.0], "gateway: key": [2.0, 2.0], PREFILL: [5.0, 5.0]},
    }
    grid = path_grid([none, inject])
    assert [line[2] for line in grid.rows] == [AROUND, "gateway: key", PREFILL, WHOLE]
    assert grid.rows[1][3:] == ["–", "2.00 (2.00 to 2.00)"]
    assert grid.rows[3][3:] == ["6.00 (5.50 to 6.50)", "8.00 (8.00 to 8.00)"]
