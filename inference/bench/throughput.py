"""Requests a second under load, and what users wait meanwhile; modes take turns within one run."""

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from time import perf_counter

from inference.bench.chat import Mode
from inference.bench.errors import BenchError
from inference.bench.load import ClientHealth, LoadPlan, LoadRun, Sample, Window
from inference.bench.load.run import client_record
from inference.bench.load.window import first_error
from inference.bench.results import Row, rounded
from inference.bench.stats import percentiles

KEPT_ITL_SAMPLES = 5000


@dataclass
class Measured:
    """One mode's windows, each with all samples of its load."""

    windows: list[tuple[Window, list[Sample]]] = field(default_factory=list)
    health: list[ClientHealth] = field(default_factory=list)


@dataclass(frozen=True)
class Timing:
    """Seconds: `seconds` is what counts, over all rounds of a mode; `warm_up` goes before each."""

    seconds: float
    warm_up: float
    rounds: int


def measure_throughput(
    plan: LoadPlan, modes: Sequence[Mode], timing: Timing, *, processes: int, progress: Callable[[str], None]
) -> Iterator[dict[Mode, Measured]]:
    """What was measured so far, after each round. Every second round takes the modes in reverse.

    Raises BenchError when no request of a window is answered.
    """
    measured: dict[Mode, Measured] = {mode: Measured() for mode in modes}
    for number in range(timing.rounds):
        for mode in modes if number % 2 == 0 else reversed(modes):
            progress(f"{mode}, round {number + 1} of {timing.rounds}")
            _measure(replace(plan, mode=mode, seed=f"{plan.seed}/{number}"), timing, processes, measured[mode])
        yield measured


def _measure(plan: LoadPlan, timing: Timing, processes: int, into: Measured) -> None:
    with LoadRun(plan, processes=processes) as run:
        time.sleep(timing.warm_up)
        start = perf_counter()
        time.sleep(timing.seconds / timing.rounds)
        window = Window(start, perf_counter())
        samples = run.stop()
    if not window.completed(samples) and (errors := [sample.error for sample in samples if sample.error]):
        raise BenchError(f"no request was answered in mode {plan.mode}: {errors[0]}")
    into.windows.append((window, samples))
    into.health += run.health


def throughput_row(plan: LoadPlan, mode: Mode, measured: Measured, common: Row) -> Row:
    """Inter-token samples are a random part of many; percentiles are of all of them."""
    windows = measured.windows
    seconds = sum(window.seconds for window, _ in windows)
    completed = [window.completed(samples) for window, samples in windows]
    ttft_ms = [ms for window, samples in windows for ms in window.ttft_ms(samples)]
    itl_ms = [ms for window, samples in windows for ms in window.itl_ms(samples)]
    tpot_ms = [ms for window, samples in windows for ms in window.tpot_ms(samples)]
    kept = random.Random(0).sample(itl_ms, min(len(itl_ms), KEPT_ITL_SAMPLES))
    return {
        **common,
        "kind": "throughput",
        "transport": "http",
        "loop": "closed" if plan.rate is None else "open",
        "mode": mode,
        "users": len(plan.users),
        "rate": plan.rate,
        "k": plan.top_k,
        "tokens": plan.max_tokens,
        "order": plan.order,
        "seconds": round(seconds, 3),
        "requests": sum(completed),
        "failed": sum(len(window.errors(samples)) for window, samples in windows),
        "first_error": first_error(windows),
        "requests_per_s": round(sum(completed) / seconds, 3),
        "requests_per_s_by_window": [
            round(count / window.seconds, 3) for count, (window, _) in zip(completed, windows, strict=True)
        ],
        "tokens_per_s": round(sum(window.tokens(samples) for window, samples in windows) / seconds, 1),
        "ttft_ms": percentiles(ttft_ms),
        "itl_ms": percentiles(itl_ms),
        "tpot_ms": percentiles(tpot_ms),
        "ttft_samples_ms": rounded(ttft_ms),
        "itl_samples_ms": rounded(kept),
        "client": client_record(measured.health),
    }
