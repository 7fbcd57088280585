"""Conversations of several turns with prefix caching on: the honest case for prompt mode, which finds what it sent."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Literal

from inference.bench.chat import ChatClient, Mode, TimedAnswer
from inference.bench.facts import bench_questions
from inference.bench.results import Row, rounded

Memory = Literal["same", "changing"]
MEMORIES: tuple[Memory, ...] = ("same", "changing")
MODES: tuple[Mode, ...] = ("prompt", "inject")

Taken = dict[tuple[Memory, Mode, int], list[TimedAnswer]]


@dataclass(frozen=True)
class SessionPlan:
    """`tokens`: of each answer; `seed`: of the questions."""

    turns: int
    k: int
    tokens: int
    seed: str


def run_session(
    client: ChatClient, memory: Memory, plan: SessionPlan, between: Callable[[int], None]
) -> Iterator[tuple[Mode, int, TimedAnswer]]:
    """One user's session in both modes, turn by turn; every answer becomes history of its mode, which is a session.

    `same`: every turn asks the same, so the same facts stand in the same order and only the conversation grows.
    `changing`: every turn asks something else, which ranks the facts anew, and `between` is called before each turn
    but the first, to store another one. Turns count from 1.
    """
    questions = bench_questions(plan.seed)
    question = next(questions)
    history: dict[Mode, list[dict[str, str]]] = {mode: [] for mode in MODES}
    for turn in range(1, plan.turns + 1):
        if memory == "changing" and turn > 1:
            between(turn)
            question = next(questions)
        for mode in MODES if turn % 2 else reversed(MODES):
            messages = [*history[mode], {"role": "user", "content": question}]
            answer = client.chat(
                messages, mode, top_k=plan.k, max_tokens=plan.tokens, ignore_eos=True, session=f"{plan.seed}-{mode}"
            )
            history[mode] = [*messages, {"role": "assistant", "content": answer.text}]
            yield mode, turn, answer


def session_rows(taken: Taken, plan: SessionPlan, common: Row) -> list[Row]:
    return [_row(case, answers, plan, common) for case, answers in taken.items()]


def _row(case: tuple[Memory, Mode, int], answers: Sequence[TimedAnswer], plan: SessionPlan, common: Row) -> Row:
    memory, mode, turn = case
    return {
        **common,
        "kind": "session",
        "transport": "http",
        "memory": memory,
        "mode": mode,
        "turn": turn,
        "k": plan.k,
        "tokens": plan.tokens,
        "prompt_tokens": median(answer.prompt_tokens for answer in answers),
        "cached_tokens": median(answer.cached_tokens for answer in answers),
        "samples_ms": rounded(answer.ttft_ms for answer in answers),
    }
