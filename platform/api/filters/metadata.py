"""Conditions on metadata, by jsonb containment: always true or false, also for facts that lack the key."""

from typing import Any

from django.db.models import Q
from facts.text import check_metadata

from api.filters.operators import MAX_CHOICES

OPERATORS = ("eq", "ne", "in", "contains")
OFTEN_TRIED = {"gt", "gte", "lt", "lte", "nin", "icontains", "exists"}


def metadata_condition(value: Any) -> Q:
    """`{key: value}` or `{key: {operator: operand}}`; several keys must all hold."""
    if not isinstance(value, dict) or not value:
        raise ValueError('must be an object, like {"topic": "travel"} or {"topic": {"in": ["travel", "food"]}}')
    check_metadata(value)
    condition = Q()
    for key, wanted in value.items():
        condition &= _key(key, wanted)
    return condition


def _key(key: str, wanted: Any) -> Q:
    if wanted == "*":
        return Q(metadata__has_key=key)
    if isinstance(wanted, dict) and OFTEN_TRIED & wanted.keys():
        raise ValueError(f"{key}: known operators: {', '.join(OPERATORS)}, or the value '*' alone")
    if not (isinstance(wanted, dict) and wanted and all(operator in OPERATORS for operator in wanted)):
        return _holds(key, wanted)
    condition = Q()
    for operator, operand in wanted.items():
        match operator:
            case "eq":
                condition &= _holds(key, operand)
            case "ne":
                condition &= ~_holds(key, operand)
            case "in":
                condition &= _any(key, operand)
            case "contains":
                condition &= _holds(key, [operand]) | _holds(key, operand)
    return condition


def _holds(key: str, value: Any) -> Q:
    return Q(metadata__contains={key: value})


def _any(key: str, values: Any) -> Q:
    if not isinstance(values, list) or not 0 < len(values) <= MAX_CHOICES:
        raise ValueError(f"{key}: in must be compared with a list of 1 to {MAX_CHOICES} values")
    condition = Q()
    for value in values:
        condition |= _holds(key, value)
    return condition
