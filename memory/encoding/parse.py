"""Strategies by their configured form: `neighbours(16)`, `nearest(16)+turns(5)+tail(3)`, `window(16)>nearest(16)`."""

import re
from dataclasses import dataclass

from memory.encoding.strategy import ContextStrategy, Nearest, Neighbours, Turns, Window

STRATEGIES: dict[str, type[ContextStrategy]] = {cls.kind: cls for cls in (Neighbours, Nearest, Window, Turns)}
ADDITIONS = ("turns", "tail")
FORM = re.compile(r"([a-z]+)\((\d{1,3})\)")
REFINED = ">"
FORMS = (
    f"{', '.join(f'{kind}(n)' for kind in STRATEGIES)}, and after it any of {', '.join(f'+{a}(n)' for a in ADDITIONS)}"
)


@dataclass(frozen=True, slots=True)
class Stages:
    """Facts are encoded by `first` at once and by `best` when there is time; without a cheaper first both are one."""

    first: ContextStrategy
    best: ContextStrategy

    @property
    def names(self) -> tuple[str, ...]:
        """Versioned names under which facts are encoded, the best first."""
        return tuple(dict.fromkeys((self.best.name, self.first.name)))

    @property
    def refine(self) -> bool:
        """Whether a fact that is encoded may be encoded better later."""
        return self.first != self.best or self.best.looks_ahead


def parse_strategy(text: str) -> ContextStrategy:
    """How facts are encoded. Raises ValueError that names the known forms."""
    (kind, n), additions = _parts(text)
    return STRATEGIES[kind](n, turns=additions.get("turns", 0))


def parse_stages(text: str) -> Stages:
    """One strategy, or two with a `>` between them, the first without a tail. Raises ValueError as `parse_strategy`."""
    first, refined, best = text.partition(REFINED)
    if not refined:
        return Stages(parse_strategy(text), parse_strategy(text))
    if text_tail(first):
        raise ValueError(f"what facts are refined to may have a tail, not what they are encoded by first: {text!r}")
    return Stages(parse_strategy(first), parse_strategy(best))


def text_tail(text: str) -> int:
    """How many of the best facts are served as text, of which the strategy's own name says nothing; 0 if unknown."""
    try:
        return _parts(text.rpartition(REFINED)[2])[1].get("tail", 0)
    except ValueError:
        return 0


def strategy_names(text: str) -> tuple[str, ...]:
    """Of both stages, the best first; an unknown strategy's own text, under which nothing is encoded."""
    try:
        return parse_stages(text).names
    except ValueError:
        return (text,)


def _parts(text: str) -> tuple[tuple[str, int], dict[str, int]]:
    refused = ValueError(f"a strategy is one of {FORMS}, not {text!r}")
    matches = [FORM.fullmatch(part) for part in text.strip().split("+")]
    parts = [(match[1], int(match[2])) for match in matches if match]
    first, rest = parts[:1], dict(parts[1:])
    if len(parts) < len(matches) or first[0][0] not in STRATEGIES:
        raise refused
    if len(rest) < len(parts) - 1 or not rest.keys() <= set(ADDITIONS) or ("turns" in rest and first[0][0] == "turns"):
        raise refused
    return first[0], rest
