"""Rows of a run, one question in one mode each: JSON lines, compressed, added to conversation by conversation."""

import gzip
import json
import os
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, TypeVar

from inference.bench.errors import BenchError

SUFFIX = ".questions.jsonl.gz"
SUBJECT_FIELDS = ("model", "dataset", "k", "machine")

Row = TypeVar("Row", "QuestionRow", "EncodeRow")


class OtherSubjectError(BenchError):
    """The file's rows are of another model, data set, k or machine."""


@dataclass(frozen=True)
class QuestionRow:
    """`nll`: mean over the gold answer's tokens, in nats; `gold_hits`: how many of them were the likeliest."""

    conversation: str
    question: int
    category: int
    mode: str
    kl: float
    top1: bool
    nll: float
    gold_tokens: int
    gold_hits: int
    f1: float
    prompt_tokens: int
    injected_tokens: int
    answer: str

    @property
    def gold_token_accuracy(self) -> float:
        return self.gold_hits / self.gold_tokens


@dataclass(frozen=True)
class EncodeRow:
    """What encoding a conversation's facts by a strategy took; `tokens` were prefilled, the fact's own among them."""

    conversation: str
    strategy: str
    facts: int
    tokens: int
    seconds: float


class Records:
    """Each `add` is a gzip member of its own: what is cut off in the middle loses that member alone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.subject: dict[str, Any] = {}
        self.questions: list[QuestionRow] = []
        self.encodes: list[EncodeRow] = []
        self.judged: dict[tuple[str, int, str], bool] = {}
        self._whole = 0
        for kind, content in self._read():
            self._keep(kind, content)

    def check(self, subject: Mapping[str, Any]) -> None:
        """Raises OtherSubjectError when rows of `subject` do not belong here."""
        for name in SUBJECT_FIELDS:
            if self.subject and self.subject.get(name) != subject.get(name):
                raise OtherSubjectError(f"{self.path} was measured with another {name}; choose another file")

    def begin(self, subject: Mapping[str, Any]) -> None:
        """Raises OtherSubjectError, OSError."""
        self.check(subject)
        if not self.subject:
            self._append([("run", dict(subject))])

    def has(self, conversation: str, mode: str, questions: int) -> bool:
        """Whether so many questions of it were asked in this mode."""
        return sum((row.conversation, row.mode) == (conversation, mode) for row in self.questions) >= questions

    def add(self, rows: Iterable[QuestionRow | EncodeRow]) -> None:
        self._append([(_kind(row), asdict(row)) for row in rows])

    def add_judged(self, verdicts: Mapping[tuple[str, int, str], bool]) -> None:
        """By conversation, question and mode."""
        names = ("conversation", "question", "mode")
        self._append(
            [("judge", dict(zip(names, of, strict=True)) | {"right": right}) for of, right in verdicts.items()]
        )

    def _append(self, items: list[tuple[str, dict[str, Any]]]) -> None:
        text = "".join(json.dumps({"kind": kind, **content}) + "\n" for kind, content in items)
        with self.path.open("r+b" if self.path.exists() else "wb") as stream:
            stream.truncate(self._whole)  # a member that was cut off makes all behind it unreadable
            stream.seek(self._whole)
            stream.write(gzip.compress(text.encode(), mtime=0))
            stream.flush()
            os.fsync(stream.fileno())
            self._whole = stream.tell()
        for kind, content in items:
            self._keep(kind, content)

    def _keep(self, kind: str, content: dict[str, Any]) -> None:
        match kind:
            case "run":
                self.subject = content
            case "question":
                self.questions.append(_of(QuestionRow, content))
            case "encode":
                self.encodes.append(_of(EncodeRow, content))
            case "judge":
                self.judged[content["conversation"], content["question"], content["mode"]] = content["right"]

    def _read(self) -> Iterator[tuple[str, dict[str, Any]]]:
        left = self.path.read_bytes() if self.path.exists() else b""
        while left:
            member = zlib.decompressobj(wbits=31)
            try:
                lines = member.decompress(left).decode().splitlines()
            except (zlib.error, UnicodeDecodeError) as error:
                raise BenchError(f"{self.path} is not a file of compressed rows: {error}") from error
            if not member.eof:
                return
            self._whole += len(left) - len(member.unused_data)
            left = member.unused_data
            for line in lines:
                content = json.loads(line)
                yield content.pop("kind"), content


def records_path(summary: Path) -> Path:
    """Beside the summary."""
    return summary.with_name(summary.stem + SUFFIX)


def _kind(row: QuestionRow | EncodeRow) -> str:
    return "question" if isinstance(row, QuestionRow) else "encode"


def _of(kind: type[Row], content: dict[str, Any]) -> Row:
    names = {field.name for field in fields(kind)}
    return kind(**{name: value for name, value in content.items() if name in names})
