"""How fast facts are encoded, and what users wait meanwhile."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from inference.bench.load import LoadPlan, LoadRun, Window
from inference.bench.load.run import client_record
from inference.bench.results import Row, rounded
from inference.bench.stats import percentiles

WARM_UP_SECONDS = 4


@dataclass(frozen=True)
class Encoded:
    """`tokens` are those kept, which is the least that has to be prefilled; `computed_tokens` all that were, context
    included. None: nobody counted them.
    """

    facts: int
    tokens: int
    computed_tokens: float | None
    storing_seconds: float
    window: Window

    def row(self) -> Row:
        seconds = self.window.seconds
        row: Row = {
            "facts": self.facts,
            "fact_tokens": self.tokens,
            "storing_seconds": round(self.storing_seconds, 3),
            "seconds": round(seconds, 3),
            "facts_per_s": round(self.facts / seconds, 2),
            "tokens_per_s": round(self.tokens / seconds, 1),
        }
        if self.computed_tokens is not None:
            row["computed_tokens"] = round(self.computed_tokens)
            row["computed_tokens_per_s"] = round(self.computed_tokens / seconds, 1)
        return row


@dataclass(frozen=True)
class Importer:
    """How facts come in: `store` takes texts by user, `wait` returns when all of theirs are encoded.

    `tokens` counts those of the users' blobs, `computed` those the engine prefilled so far; None: it does not tell.
    """

    store: Callable[[Mapping[str, Sequence[str]]], None]
    wait: Callable[[Sequence[str]], None]
    tokens: Callable[[Sequence[str]], int]
    computed: Callable[[], float | None]

    def run(self, texts: Mapping[str, Sequence[str]]) -> Encoded:
        """From storing the first fact to having the last one encoded."""
        before, start = self.computed(), perf_counter()
        self.store(texts)
        stored = perf_counter()
        self.wait(list(texts))
        window = Window(start, perf_counter())
        after = self.computed()
        computed = None if before is None or after is None else after - before
        facts = sum(len(of_user) for of_user in texts.values())
        return Encoded(facts, self.tokens(list(texts)), computed, stored - start, window)


def encode_alone(importer: Importer, texts: Mapping[str, Sequence[str]], common: Row) -> Row:
    return {**common, "kind": "encode", "users": 0, **importer.run(texts).row()}


def encode_under_load(
    importer: Importer,
    texts: Mapping[str, Sequence[str]],
    plan: LoadPlan,
    common: Row,
    *,
    processes: int,
    quiet_seconds: float,
    warm_up_seconds: float = WARM_UP_SECONDS,
) -> Row:
    """Users keep asking: in quiet, while facts are encoded, and in quiet again.

    Prefilled tokens are not told: the engine does not count the users' apart.
    """
    with LoadRun(plan, processes=processes) as run:
        time.sleep(warm_up_seconds)
        before = _quiet(quiet_seconds)
        encoded = importer.run(texts)
        after = _quiet(quiet_seconds)
        samples = run.stop()
    windows = {"before": before, "during": encoded.window, "after": after}
    waited = {name: window.ttft_ms(samples) for name, window in windows.items()}
    row = replace(encoded, computed_tokens=None).row()
    return {
        **common,
        **row,
        "kind": "encode",
        "users": len(plan.users),
        "mode": plan.mode,
        "k": plan.top_k,
        "failed": sum(len(window.errors(samples)) for window in windows.values()),
        "requests_per_s": {name: round(w.completed(samples) / w.seconds, 2) for name, w in windows.items()},
        "ttft_ms": {name: percentiles(ms) for name, ms in waited.items()},
        "ttft_samples_ms": {name: rounded(ms) for name, ms in waited.items()},
        "client": client_record(run.health),
    }


def _quiet(seconds: float) -> Window:
    start = perf_counter()
    time.sleep(seconds)
    return Window(start, perf_counter())
