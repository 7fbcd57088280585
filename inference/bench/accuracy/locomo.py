"""Conversations with facts, turns and questions, in LoCoMo's file format."""

import json
import lzma
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from inference.bench.errors import BenchError

ANSWERED = (1, 2, 3, 4)
CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop"}
TURN_ID = re.compile(r"D(\d+):(\d+)")


class DatasetError(BenchError):
    """The file is not LoCoMo's."""


@dataclass(frozen=True)
class Turn:
    id: str
    speaker: str
    text: str


@dataclass(frozen=True)
class SourcedFact:
    """`turns` are the ids of those it was taken from."""

    text: str
    turns: tuple[str, ...]


@dataclass(frozen=True)
class Question:
    """`number` counts within the conversation, over all categories; `evidence` are ids of turns."""

    number: int
    text: str
    gold: str
    category: int
    evidence: tuple[str, ...]


@dataclass(frozen=True)
class Conversation:
    """Turns and facts oldest first, facts as `[session date] observation`; only questions that have an answer."""

    name: str
    turns: tuple[Turn, ...]
    facts: tuple[SourcedFact, ...]
    questions: tuple[Question, ...]

    def turns_before(self, fact: SourcedFact, count: int) -> tuple[Turn, ...]:
        """The last `count` turns said before the fact's own, the last of them if it has several; none if unknown."""
        place = max((self._places.get(turn, 0) for turn in fact.turns), default=0)
        return self.turns[max(0, place - count) : place]

    def with_first(self, questions: int | None) -> "Conversation":
        return replace(self, questions=self.questions[:questions])

    @cached_property
    def _places(self) -> dict[str, int]:
        return {turn.id: place for place, turn in enumerate(self.turns)}


def read_conversations(path: Path) -> list[Conversation]:
    """From JSON, `.xz` or not. Raises DatasetError, OSError."""
    try:
        data = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
        found = [_conversation(item) for item in json.loads(data)]
    except (ValueError, KeyError, TypeError, AttributeError, lzma.LZMAError) as error:
        raise DatasetError(f"{path} is not in LoCoMo's format: {error!r}") from error
    if not any(conversation.questions for conversation in found):
        raise DatasetError(f"{path} has no questions of categories {ANSWERED}")
    return found


def turn_ids(raw: Any) -> tuple[str, ...]:
    """The ids in a string or a list of strings; the file has some with several in one, and some malformed."""
    texts = raw if isinstance(raw, list) else [raw]
    return tuple(f"D{session}:{turn}" for text in texts for session, turn in TURN_ID.findall(str(text)))


def _conversation(item: dict[str, Any]) -> Conversation:
    talk, observations = item["conversation"], item["observation"]
    numbers = sorted(int(name.split("_")[1]) for name in talk if re.fullmatch(r"session_\d+", name))
    turns = [_turn(turn) for number in numbers for turn in talk[f"session_{number}"]]
    facts = [
        SourcedFact(f"[{talk[f'session_{number}_date_time']}] {text}", turn_ids(source))
        for number in numbers
        for by_speaker in observations.get(f"session_{number}_observation", {}).values()
        for text, source in by_speaker
    ]
    return Conversation(str(item["sample_id"]), tuple(turns), tuple(facts), tuple(_questions(item["qa"])))


def _turn(raw: dict[str, Any]) -> Turn:
    caption = f" [shares a picture: {raw['blip_caption']}]" if raw.get("blip_caption") else ""
    return Turn(raw["dia_id"], raw["speaker"], raw["text"] + caption)


def _questions(items: list[dict[str, Any]]) -> Iterator[Question]:
    for number, raw in enumerate(items):
        if raw["category"] in ANSWERED:
            evidence = turn_ids(raw.get("evidence", []))
            yield Question(number, raw["question"], str(raw["answer"]), raw["category"], evidence)
