"""Strategies by their configured form: `neighbours(16)`, or `neighbours(16)+turns(5)+tail(3)`."""

import re

from memory.encoding.strategy import ContextStrategy, Nearest, Neighbours, Turns, Window

STRATEGIES: dict[str, type[ContextStrategy]] = {cls.kind: cls for cls in (Neighbours, Nearest, Window, Turns)}
ADDITIONS = ("turns", "tail")
FORM = re.compile(r"([a-z]+)\((\d{1,3})\)")
FORMS = (
    f"{', '.join(f'{kind}(n)' for kind in STRATEGIES)}, and after it any of {', '.join(f'+{a}(n)' for a in ADDITIONS)}"
)


def parse_strategy(text: str) -> ContextStrategy:
    """How facts are encoded. Raises ValueError that names the known forms."""
    (kind, n), additions = _parts(text)
    return STRATEGIES[kind](n, turns=additions.get("turns", 0))


def text_tail(text: str) -> int:
    """How many of the best facts are served as text, of which the strategy's own name says nothing; 0 if unknown."""
    try:
        return _parts(text)[1].get("tail", 0)
    except ValueError:
        return 0


def strategy_name(text: str) -> str:
    """The versioned name under which facts are encoded; an unknown strategy's own text, under which none is."""
    try:
        return parse_strategy(text).name
    except ValueError:
        return text


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
