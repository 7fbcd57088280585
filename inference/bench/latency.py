"""TTFT over HTTP: modes interleaved on one running engine."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice, product
from statistics import median

from inference.bench.chat import ChatClient, Mode, TimedAnswer
from inference.bench.facts import bench_questions
from inference.bench.results import Row, rounded

WARM_UP = 2
MAX_TOKENS = 2

Ask = Callable[[str, int], TimedAnswer]
"""One question with k facts."""
Taken = dict[tuple[int, Mode], list[TimedAnswer]]


def ask_anew(client: ChatClient, mode: Mode, question: str, k: int) -> TimedAnswer:
    """The first tokens of an answer; facts in an order of their own, so that no earlier call's prefix is of use."""
    return client.ask(question, mode, top_k=k, max_tokens=MAX_TOKENS, shuffled=mode != "none", ignore_eos=True)


def measure_latency(
    ask: Mapping[Mode, Ask], *, ks: Sequence[int], rounds: int, seed: object, progress: Callable[[int], None]
) -> Iterator[Taken]:
    """Each round asks one new question in every mode at every k; all answers so far after each.

    `progress` gets the number of requests done. Raises as the asking does.
    """
    cases = list(product(ks, ask))
    taken: Taken = {case: [] for case in cases}
    for turn, question in enumerate(islice(bench_questions(seed), WARM_UP + rounds), start=-WARM_UP):
        for done, (k, mode) in enumerate(cases, start=1):
            answer = ask[mode](question, k)
            if turn >= 0:
                taken[k, mode].append(answer)
                progress(turn * len(cases) + done)
        if turn >= 0:
            yield taken


def latency_rows(taken: Taken, common: Row) -> list[Row]:
    """`complete`, of injected requests: in how many samples every fact was injected."""
    return [_row(k, mode, answers, common) for (k, mode), answers in taken.items()]


def _row(k: int, mode: Mode, answers: Sequence[TimedAnswer], common: Row) -> Row:
    row = {
        **common,
        "kind": "latency",
        "transport": "http",
        "mode": mode,
        "k": k,
        "facts": median(answer.facts for answer in answers),
        "prompt_tokens": median(answer.prompt_tokens for answer in answers),
        "cached_tokens": median(answer.cached_tokens for answer in answers),
        "samples_ms": rounded(answer.ttft_ms for answer in answers),
    }
    if mode == "inject":
        row["complete"] = sum(answer.cached_tokens >= answer.injected_tokens > 0 for answer in answers)
    return row
