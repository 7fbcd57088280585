"""The logic of a filter: AND, OR, NOT over conditions on fields."""

from collections.abc import Mapping
from typing import Any

from django.db.models import Q

from api.filters.conditions import CONDITIONS
from api.filters.errors import FilterError

__all__ = ["FilterError", "parse_filters"]

MAX_DEPTH = 8
MAX_CONDITIONS = 200


def parse_filters(filters: object) -> Q:
    """A condition on Fact. Several keys of one object must all hold; `{}` matches everything.

    NOT holds when none of its items does. Raises FilterError for unknown keys, operators and values.
    """
    return _Parser().node(filters, depth=0)


class _Parser:
    def __init__(self) -> None:
        self.conditions = 0

    def node(self, node: object, depth: int) -> Q:
        if not isinstance(node, Mapping):
            raise FilterError('filters must be an object, like {"AND": [{"user_id": "alice"}]}')
        if depth > MAX_DEPTH:
            raise FilterError(f"filters must be nested at most {MAX_DEPTH} deep")
        condition = Q()
        for key, value in node.items():
            condition &= self._entry(key, value, depth)
        return condition

    def _entry(self, key: str, value: Any, depth: int) -> Q:
        if key in ("AND", "OR", "NOT"):
            return self._group(key, value, depth)
        if key not in CONDITIONS:
            raise FilterError(f"unknown filter {key!r}; known: AND, OR, NOT, {', '.join(CONDITIONS)}")
        self.conditions += 1
        if self.conditions > MAX_CONDITIONS:
            raise FilterError(f"filters must have at most {MAX_CONDITIONS} conditions")
        try:
            return CONDITIONS[key](value)
        except ValueError as error:
            raise FilterError(f"{key}: {error}") from None

    def _group(self, key: str, items: object, depth: int) -> Q:
        if key == "NOT" and isinstance(items, Mapping):
            items = [items]
        if not isinstance(items, list) or not items:
            raise FilterError(f"{key} must be a list of at least one condition")
        nodes = [self.node(item, depth + 1) for item in items]
        if any(not node for node in nodes):
            raise FilterError(f"{key} must not hold an empty condition")
        group = nodes[0]
        for node in nodes[1:]:
            group = group & node if key == "AND" else group | node
        return ~group if key == "NOT" else group
