"""A rendered prompt in its parts, for people who want to see what the model reads."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

PieceKind = Literal["header", "fact", "closing", "system", "history", "question", "template"]
"""`system` is the application's own; `template` what the chat template puts around messages."""


class Piece(NamedTuple):
    kind: PieceKind
    text: str
    tokens: int


def cut_prompt(
    text: str, *, block: Sequence[str], instructions: Sequence[str], question: str, has_history: bool
) -> list[tuple[PieceKind, str]]:
    """All of the text, in order. `block`: what it begins with, header, facts and closing line, or nothing.

    What the template changed of instructions or question is not found and counts as the template's or as history.
    """
    facts: list[PieceKind] = ["fact"] * (len(block) - 2)
    kinds: list[PieceKind] = ["header", *facts, "closing"] if block else []
    begin = end = sum(map(len, block))
    for instruction in map(str.strip, instructions):
        found = text.find(instruction, end)
        end = end if found < 0 else found + len(instruction)
    asked = question.strip()
    start = max(end, text.rfind(asked) if asked else len(text))
    stop = start + len(asked) if text.startswith(asked, start) else start
    rest: list[tuple[PieceKind, str]] = [
        ("system", text[begin:end]),
        ("history" if has_history else "template", text[end:start]),
        ("question", text[start:stop]),
        ("template", text[stop:]),
    ]
    return [*zip(kinds, block, strict=True), *((kind, piece) for kind, piece in rest if piece)]
