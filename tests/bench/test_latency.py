"""Latency over HTTP: modes take turns with the same new question."""

import sys
from collections import Counter
from pathlib import Path

import pytest

from inference.bench.chat import ChatClient, Mode, TimedAnswer
from inference.bench.errors import BenchError
from inference.bench.latency import WARM_UP, latency_rows, measure_latency
from inference.bench.mem0_peer import Mem0Memory
from tests.bench.chat_server import chat_server


def test_every_round_asks_one_new_question_in_every_mode_and_warm_up_does_not_count() -> None:
    asked: list[tuple[str, Mode, int]] = []

    def ask_in(mode: Mode, question: str, k: int) -> TimedAnswer:
        asked.append((question, mode, k))
        return TimedAnswer(mode, "", float(len(asked)), k, 100, 80, 80)

    modes: tuple[Mode, ...] = ("prompt", "inject")
    ask = {mode: lambda question, k, mode=mode: ask_in(mode, question, k) for mode in modes}
    done: list[int] = []
    rounds = list(measure_latency(ask, ks=[5, 50], rounds=3, seed=1, progress=done.append))
    assert len(rounds) == 3
    assert done == list(range(1, 13))
    assert set(Counter(question for question, _, _ in asked).values()) == {4}
    assert len({question for question, _, _ in asked}) == 3 + WARM_UP
    rows = {(row["mode"], row["k"]): row for row in latency_rows(rounds[-1], {"shape": "tiny"})}
    assert rows["prompt", 5]["samples_ms"] == [9.0, 13.0, 17.0]
    assert rows["inject", 50]["complete"] == 3


def test_a_mode_that_was_not_served_is_an_error() -> None:
    with chat_server() as server:
        client = ChatClient(server.url, "key", model="m", user="ann")
        assert client.ask("Who?", "inject", top_k=5, max_tokens=2, shuffled=True, ignore_eos=True).prompt_tokens == 9
        body = server.bodies[-1]
        assert (body["memory"]["order"], body["memory"]["top_k"], body["ignore_eos"]) == ("random", 5, True)
        server.modes["auto"] = "prompt"
        with pytest.raises(BenchError, match="asked for mode inject, served in mode prompt"):
            client.ask("Who?", "inject", top_k=5, max_tokens=2)


def test_the_peer_without_its_library_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mem0", None)
    with pytest.raises(BenchError, match=r"inferscale\[bench\]"):
        Mem0Memory(tmp_path, tmp_path, "ann")
