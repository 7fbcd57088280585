"""Loads the conversation, asks the questions in both modes, times all three."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from statistics import median
from typing import Any

from facts.inputs import Message
from facts.scopes import Scopes
from facts.selectors import owner_get
from facts.services import facts_add
from tenants.models import Tenant

from inference.bench.chat import MODES, ChatClient, Mode, TimedAnswer
from inference.demo.script import Question, conversation

USER = "nora-and-felix"
TOP_K = 50
ANSWER_TOKENS = 40
TIMED_ROUNDS = 2


@dataclass(frozen=True)
class AskedQuestion:
    """One question, answered from the same prompt prefilled as text and injected."""

    question: Question
    prompt: TimedAnswer
    inject: TimedAnswer


@dataclass(frozen=True)
class DemoResult:
    asked: list[AskedQuestion]
    ttft_ms: dict[Mode, list[float]]

    @property
    def ratio(self) -> float:
        return median(self.ttft_ms["prompt"]) / median(self.ttft_ms["inject"])

    def as_json(self, *, facts: int, setup_seconds: float) -> dict[str, Any]:
        injected = [asked.inject for asked in self.asked]
        return {
            "facts": facts,
            "prompt_tokens": median(answer.prompt_tokens for answer in injected),
            "injected_tokens": median(answer.injected_tokens for answer in injected),
            "ttft_ms": {mode: [round(sample, 2) for sample in samples] for mode, samples in self.ttft_ms.items()},
            "ratio": round(self.ratio, 3),
            "answers": [
                {**asdict(asked.question), "prompt": asked.prompt.text, "inject": asked.inject.text}
                for asked in self.asked
            ],
            "setup_seconds": round(setup_seconds, 1),
        }


def load_conversation(tenant: Tenant) -> None:
    """Turns in their order, facts linked to theirs. Once: later starts find it."""
    if owner_get(tenant=tenant, scopes=Scopes(user_id=USER)):
        return
    messages = [
        Message(role=turn.speaker, content=turn.text, facts=turn.facts, said_at=turn.said_at) for turn in conversation()
    ]
    facts_add(tenant=tenant, scopes=Scopes(user_id=USER), messages=messages, actor="demo")


def run_demo(client: ChatClient, questions: list[Question], *, progress: Callable[[int], None]) -> DemoResult:
    """`progress` gets the number of requests done, of `requests_of(questions)`."""
    for mode in MODES:  # the first request of a mode pays for warming up
        client.ask(questions[0].question, mode, top_k=TOP_K, max_tokens=1, shuffled=mode != "none")
    done, asked = 0, list[AskedQuestion]()
    for question in questions:
        answers = {
            mode: client.ask(question.question, mode, top_k=TOP_K, max_tokens=ANSWER_TOKENS) for mode in MODES[1:]
        }
        asked.append(AskedQuestion(question, answers["prompt"], answers["inject"]))
        done += len(answers)
        progress(done)
    ttft_ms: dict[Mode, list[float]] = {mode: [] for mode in MODES}
    for question in questions * TIMED_ROUNDS:
        for mode in MODES:
            answer = client.ask(question.question, mode, top_k=TOP_K, max_tokens=1, shuffled=mode != "none")
            ttft_ms[mode].append(answer.ttft_ms)
            done += 1
            progress(done)
    return DemoResult(asked, ttft_ms)


def requests_of(questions: list[Question]) -> int:
    return len(questions) * (len(MODES) - 1 + len(MODES) * TIMED_ROUNDS)
