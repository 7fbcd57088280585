"""A request's way from the client's socket to its first token, step by step."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from time import monotonic, sleep

import httpx

from inference.bench.chat import Mode, TimedAnswer
from inference.bench.errors import BenchError
from inference.bench.facts import bench_questions
from inference.bench.metrics import counter, metrics_page
from inference.bench.results import Row, rounded

WARM_UP = 2
OBSERVED_SECONDS = 5
SETTLE_SECONDS = 0.2
GATEWAY = "gateway: "
AROUND, API, QUEUE, PREFILL = "client and sockets", "vLLM's API process", "vLLM's queue", "prefill, first token"
TTFT, QUEUED, PREFILLED = (
    f"vllm:{name}_seconds" for name in ("time_to_first_token", "request_queue_time", "request_prefill_time")
)

Taken = dict[Mode, list[dict[str, float]]]
Ask = Callable[[str], TimedAnswer]


class EngineTimes:
    """What the engine says of the one request between two looks at its metrics page."""

    def __init__(self, url: str) -> None:
        self.http = httpx.Client(base_url=url, timeout=OBSERVED_SECONDS)
        self.before = self._page()

    def forget(self) -> None:
        """Whatever was served until now is not looked at."""
        sleep(SETTLE_SECONDS)  # some of a request is observed after its answer
        self.before = self._page()

    def of_last(self) -> dict[str, float]:
        """Milliseconds by metric. Raises BenchError unless exactly one request was served since; httpx.HTTPError."""
        until = monotonic() + OBSERVED_SECONDS
        page = self._page()
        while self._requests(page) < 1 and monotonic() < until:
            sleep(0.01)
            page = self._page()
        if (requests := self._requests(page)) != 1:
            raise BenchError(f"the engine served {requests:.0f} requests where one was sent: others use it")
        found = {name: self._change(page, f"{name}_sum") * 1000 for name in (TTFT, QUEUED, PREFILLED)}
        self.before = page
        return found

    def _requests(self, page: str) -> float:
        """Those whose every metric is on the page: vLLM observes some at the first token, some at the end."""
        return min(self._change(page, f"{name}_count") for name in (TTFT, QUEUED, PREFILLED))

    def _change(self, page: str, name: str) -> float:
        return counter(page, name) - counter(self.before, name)

    def _page(self) -> str:
        return metrics_page(self.http)


def measure_path(
    ask: Mapping[Mode, Ask], engine: EngineTimes, *, rounds: int, seed: object, progress: Callable[[int], None]
) -> Iterator[Taken]:
    """Each round asks one new question in every mode; all steps so far after each. Raises as the asking does."""
    taken: Taken = {mode: [] for mode in ask}
    for turn, question in enumerate(islice(bench_questions(seed), WARM_UP + rounds), start=-WARM_UP):
        for mode, of_mode in ask.items():
            answer = of_mode(question)
            if turn >= 0:
                taken[mode].append(path_steps(answer, engine.of_last()))
            else:
                engine.forget()
        if turn >= 0:
            progress(turn + 1)
            yield taken


def path_steps(answer: TimedAnswer, engine_ms: Mapping[str, float]) -> dict[str, float]:
    """Milliseconds by step, in order; they add up to the answer's TTFT."""
    gateway = {f"{GATEWAY}{name}": ms for name, ms in answer.stages_ms.items()}
    inside, queued, prefilled = (engine_ms[name] for name in (TTFT, QUEUED, PREFILLED))
    around = answer.ttft_ms - sum(gateway.values()) - inside
    return {
        AROUND: around,
        **gateway,
        API: inside - queued - prefilled,
        QUEUE: queued,
        PREFILL: prefilled,
    }


def path_rows(taken: Taken, common: Row, *, k: int) -> list[Row]:
    return [
        {
            **common,
            "kind": "path",
            "transport": "http",
            "mode": mode,
            "k": k,
            "steps": {name: rounded(steps.get(name, 0.0) for steps in samples) for name in _names(samples)},
        }
        for mode, samples in taken.items()
    ]


def _names(samples: Sequence[Mapping[str, float]]) -> list[str]:
    return list(dict.fromkeys(name for steps in samples for name in steps))
