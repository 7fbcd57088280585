"""A short text about what is remembered, made of the memories themselves: nothing in it that no memory says."""

from collections.abc import Iterable

from facts.models import Fact

MAX_CHARACTERS = 2000


def summarise(facts: Iterable[Fact], *, max_characters: int = MAX_CHARACTERS) -> str:
    """A line a memory, in the order given, as many whole lines as fit."""
    lines: list[str] = []
    room = max_characters
    for fact in facts:
        room -= len(fact.text) + len("- \n")
        if room < 0 and lines:
            break
        lines.append(f"- {fact.text}"[:max_characters])
    return "\n".join(lines)
