"""Strategies by their configured form, e.g. `neighbours(16)`."""

import re

from memory.encoding.strategy import ContextStrategy, Neighbours, Window

STRATEGIES: dict[str, type[ContextStrategy]] = {cls.kind: cls for cls in (Neighbours, Window)}
FORM = re.compile(r"([a-z]+)\((\d{1,3})\)")


def parse_strategy(text: str) -> ContextStrategy:
    """Raises ValueError that names the known forms."""
    match = FORM.fullmatch(text.strip())
    if match is None or match[1] not in STRATEGIES:
        raise ValueError(f"a strategy is one of {', '.join(f'{kind}(n)' for kind in STRATEGIES)}, not {text!r}")
    return STRATEGIES[match[1]](int(match[2]))


def strategy_name(text: str) -> str:
    """The versioned name under which facts are encoded; an unknown strategy's own text, under which none is."""
    try:
        return parse_strategy(text).name
    except ValueError:
        return text
