"""TTFT of the three modes, interleaved on one running engine."""

import platform
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import product
from statistics import median
from typing import Any

from inference.bench.chat import MODES, ChatClient, Mode, TimedAnswer

WARM_UP = 2
MAX_TOKENS = 2


@dataclass(frozen=True)
class LatencyRow:
    """All samples of one mode at one k."""

    mode: Mode
    k: int
    facts: int
    prompt_tokens: float
    prefilled_tokens: float
    samples_ms: list[float]


def measure_latency(
    client: ChatClient, questions: Sequence[str], *, ks: Sequence[int], rounds: int, progress: Callable[[int], None]
) -> list[LatencyRow]:
    """Each round asks one question in every mode at every k, facts in a new random order each time.

    `progress` gets the number of requests done. Raises as `ChatClient.ask`.
    """
    cases = list(product(ks, MODES))
    taken: dict[tuple[int, Mode], list[TimedAnswer]] = {case: [] for case in cases}
    for turn in range(-WARM_UP, rounds):
        question = questions[turn % len(questions)]
        for done, (k, mode) in enumerate(cases, start=1):
            answer = client.ask(question, mode, top_k=k, max_tokens=MAX_TOKENS, shuffled=mode != "none")
            if turn >= 0:
                taken[k, mode].append(answer)
                progress(turn * len(cases) + done)
    return [_row(k, mode, answers) for (k, mode), answers in taken.items()]


def ratios(rows: Sequence[LatencyRow], k: int) -> dict[str, float]:
    """How many times longer prompt mode's median is than injected, and than no memory at all."""
    medians = {row.mode: median(row.samples_ms) for row in rows if row.k == k}
    return {
        "prompt/inject": medians["prompt"] / medians["inject"],
        "prompt/none": medians["prompt"] / medians["none"],
    }


def report(rows: Sequence[LatencyRow], *, model: str) -> dict[str, Any]:
    """As JSON: raw samples and what they were taken on."""
    machine = {"processor": platform.processor() or platform.machine(), "python": platform.python_version()}
    return {"machine": machine, "model": model, "rows": [asdict(row) for row in rows]}


def _row(k: int, mode: Mode, answers: Sequence[TimedAnswer]) -> LatencyRow:
    return LatencyRow(
        mode=mode,
        k=k,
        facts=answers[0].facts,
        prompt_tokens=median(answer.prompt_tokens for answer in answers),
        prefilled_tokens=median(answer.prefilled_tokens for answer in answers),
        samples_ms=[round(answer.ttft_ms, 2) for answer in answers],
    )
