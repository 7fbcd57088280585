"""What is loaded and what is asked."""

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

HERE = Path(__file__).parent


@dataclass(frozen=True)
class SaidTurn:
    """One turn and the facts that came from it."""

    speaker: str
    said_at: datetime
    text: str
    facts: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    question: str
    expected: str


def conversation() -> list[SaidTurn]:
    content = json.loads((HERE / "conversation.json").read_text())
    facts: dict[int, list[str]] = {}
    for fact in content["facts"]:
        facts.setdefault(fact["turn"], []).append(fact["text"])
    return [
        SaidTurn(turn["speaker"], datetime.fromisoformat(turn["time"]), turn["text"], tuple(facts.get(i, ())))
        for i, turn in enumerate(content["turns"])
    ]


def questions() -> list[Question]:
    return [Question(**entry) for entry in json.loads((HERE / "questions.json").read_text())]
