"""Load comes from processes of its own, and what fails is counted with its reason."""

import time
from collections import Counter
from collections.abc import Callable

import pytest

from inference.bench.errors import BenchError
from inference.bench.load import LoadPlan, LoadRun, Sample
from inference.bench.throughput import Timing, measure_throughput, throughput_row
from tests.bench.chat_server import ChatServer, chat_server


def plan(server: ChatServer, *users: str, rate: float | None = None) -> LoadPlan:
    return LoadPlan(server.url, "key", "model", users, "inject", top_k=5, max_tokens=3, rate=rate, seed="s")


def run_until(run: LoadRun, condition: Callable[[], bool]) -> list[Sample]:
    with run:
        deadline = time.monotonic() + 60
        while not condition():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        return run.stop()


def test_every_user_asks_again_once_answered_and_always_something_else() -> None:
    with chat_server() as server:
        server.refuses, server.shortens = frozenset({"refused"}), frozenset({"short"})
        users = ("ann", "bob", "refused", "short")
        samples = run_until(
            LoadRun(plan(server, *users), processes=2), lambda: all(server.asked[user] >= 3 for user in users)
        )
    assert max(server.questions.values()) == 1
    good = [sample for sample in samples if sample.ended and not sample.error]
    assert len(good) >= 4
    assert all(len(sample.tokens) == 3 for sample in good)
    assert all(sample.first and sample.started < sample.first <= sample.tokens[0] for sample in good)
    errors = Counter(sample.error.partition(":")[0] for sample in samples if sample.error)
    assert set(errors) == {"500", "the answer has 2 tokens, not 3"}


def test_an_open_loop_does_not_wait_for_answers() -> None:
    with chat_server() as server:
        run = LoadRun(plan(server, "ann", rate=200.0), processes=1)
        samples = run_until(run, lambda: server.asked["ann"] >= 40)
    starts = [sample.started for sample in samples]
    assert starts == sorted(starts)
    assert len(run.health) == 1
    assert run.health[0].cpu_share > 0


def test_modes_take_turns_and_end_in_rows() -> None:
    with chat_server() as server:
        told: list[str] = []
        asked = plan(server, "ann", "bob")
        measured = list(
            measure_throughput(asked, ["inject", "prompt"], Timing(0.6, 0.0, 2), processes=1, progress=told.append)
        )[-1]
    assert told == ["inject, round 1 of 2", "prompt, round 1 of 2", "prompt, round 2 of 2", "inject, round 2 of 2"]
    for mode, of_mode in measured.items():
        row = throughput_row(asked, mode, of_mode, {"shape": "tiny"})
        assert (row["mode"], row["failed"], row["users"], row["loop"]) == (mode, 0, 2, "closed")
        assert row["requests"] > 0
        assert len(row["requests_per_s_by_window"]) == 2


def test_a_server_that_answers_nobody_ends_the_measurement() -> None:
    with chat_server() as server:
        server.refuses = frozenset({"ann"})
        with pytest.raises(BenchError, match="no request was answered in mode inject: 500"):
            list(
                measure_throughput(
                    plan(server, "ann"), ["inject"], Timing(0.3, 0.0, 1), processes=1, progress=lambda _: None
                )
            )
