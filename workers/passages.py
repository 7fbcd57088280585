"""A conversation in parts that fit one question."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from facts.models import Turn

MOST_CHARACTERS = 6000
FEWEST_CHARACTERS = 500  # below it a part is not divided further


@dataclass(frozen=True, slots=True)
class Piece:
    """A turn, or what of it stands in one part."""

    turn: Turn
    text: str


Passage = tuple[Piece, ...]


def passages(turns: Sequence[Turn]) -> Iterator[Passage]:
    """All of the turns in their order, each part of at most MOST_CHARACTERS."""
    current, size = list[Piece](), 0
    for turn in turns:
        for text in text_parts(turn.content, MOST_CHARACTERS):
            if current and size + len(text) > MOST_CHARACTERS:
                yield tuple(current)
                current, size = [], 0
            current.append(Piece(turn, text))
            size += len(text)
    if current:
        yield tuple(current)


def halves(passage: Passage) -> tuple[Passage, Passage] | None:
    """None for what is too short to divide."""
    if len(passage) > 1:
        middle = len(passage) // 2
        return passage[:middle], passage[middle:]
    (piece,) = passage
    if len(piece.text) < FEWEST_CHARACTERS:
        return None
    first, *rest = text_parts(piece.text, (len(piece.text) + 1) // 2 + 40)
    return (replace(piece, text=first),), (replace(piece, text=" ".join(rest)),)


def text_parts(text: str, most: int) -> list[str]:
    """At most so many characters each, between words where there are any."""
    parts = []
    while len(text) > most:
        end = text.rfind(" ", most // 2, most)
        end = most if end < 0 else end
        parts.append(text[:end].strip())
        text = text[end:].strip()
    return [*parts, text]
