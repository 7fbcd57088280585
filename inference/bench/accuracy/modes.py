"""The modes that are compared, by the names they have on the command line and in results."""

import re
from dataclasses import dataclass

from memory.encoding import ContextStrategy, parse_strategy, text_tail

PROMPT, NONE, AGAIN = "prompt", "none", "prompt again"
PLAIN = (PROMPT, NONE, AGAIN)


@dataclass(frozen=True)
class Mode:
    """`strategy` None: no KV is injected. `text_tail` of the best facts are served as text."""

    name: str
    strategy: ContextStrategy | None = None
    text_tail: int = 0

    @property
    def has_facts(self) -> bool:
        return self.name != NONE


def parse_modes(text: str) -> list[Mode]:
    """Comma-separated; prompt mode always comes first, since the others are compared with it. Raises ValueError."""
    names = [" ".join(name.split()) for name in re.split(r",(?![^(]*\))", text) if name.strip()]
    return [_mode(name) for name in dict.fromkeys([PROMPT, *names])]


def _mode(name: str) -> Mode:
    if name in PLAIN:
        return Mode(name)
    try:
        return Mode(name, parse_strategy(name), text_tail(name))
    except ValueError as error:
        raise ValueError(f"a mode is one of {', '.join(PLAIN)}, or a strategy: {error}") from error
