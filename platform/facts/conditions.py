"""What a condition demands of the names that facts carry."""

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

from django.db.models import Q

from facts.errors import InvalidInputError
from facts.scopes import Scopes

NAMES = tuple(field.name for field in fields(Scopes))


def names_and_rest(condition: Q) -> tuple[Scopes, Q]:
    """The names that every fact meeting the condition carries, as far as it says so plainly, and what else it demands.

    Both together are the condition; an empty rest demands nothing.
    """
    names, rest = dict[str, str](), Q()
    for part in _demands(condition):
        if isinstance(part, tuple) and part[0] in NAMES and part[0] not in names and _is_name(*part):
            names[part[0]] = part[1]
        else:
            rest &= part if isinstance(part, Q) else Q(part)
    return Scopes(**names), rest


def _demands(condition: Q) -> Iterator[Q | tuple[str, Any]]:
    """Parts that must all hold."""
    if condition.negated or (condition.connector != Q.AND and len(condition.children) > 1):
        yield condition
        return
    for child in condition.children:
        if isinstance(child, Q):
            yield from _demands(child)
        elif isinstance(child, tuple):
            yield child
        else:
            yield Q(child)


def _is_name(field: str, value: Any) -> bool:
    try:
        return bool(Scopes(**{field: value}).named)
    except InvalidInputError:
        return False
