"""What changed between two texts, word by word."""

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Literal, NamedTuple

WORDS = re.compile(r"\s+|\w+|[^\w\s]")
LONGEST = 4000  # words; beyond it the texts are shown as a whole, for comparing grows with their product


class Piece(NamedTuple):
    kind: Literal["same", "gone", "new"]
    text: str


def words_changed(before: str, after: str) -> Iterator[Piece]:
    old, new = WORDS.findall(before), WORDS.findall(after)
    if len(old) + len(new) > LONGEST:
        yield from _pieces(before, after)
        return
    for tag, i, j, k, m in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield Piece("same", "".join(old[i:j]))
        else:
            yield from _pieces("".join(old[i:j]), "".join(new[k:m]))


def _pieces(gone: str, new: str) -> Iterator[Piece]:
    if gone:
        yield Piece("gone", gone)
    if new:
        yield Piece("new", new)
