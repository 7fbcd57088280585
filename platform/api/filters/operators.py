"""The operator form of a condition, `{"in": [...]}`, and the operands it takes."""

from typing import Any
from uuid import UUID

MAX_CHOICES = 1000


def operators(value: Any, known: tuple[str, ...]) -> list[tuple[str, Any]]:
    """Pairs of operator and operand. A bare value means eq, and a bare `*` any value at all."""
    if value == "*":
        return [("*", None)]
    if not isinstance(value, dict):
        return [("eq", value)]
    if not value:
        raise ValueError(f"needs an operator, one of {', '.join(known)}")
    for operator, operand in value.items():
        if operator not in known:
            raise ValueError(f"unknown operator {operator!r}; known: {', '.join(known)}, or the value '*' alone")
        if operand == "*" and operator in ("eq", "ne", "in"):
            raise ValueError("'*' stands alone, without an operator")
    return list(value.items())


def text(operand: Any) -> str:
    if not isinstance(operand, str) or not operand.strip():
        raise ValueError("must be compared with a non-blank string")
    if "\x00" in operand or any("\ud800" <= character <= "\udfff" for character in operand):
        raise ValueError("must be compared with valid Unicode without NUL characters")
    return operand


def choices(operand: Any) -> list[str]:
    return [text(item) for item in _list(operand)]


def identifiers(operand: Any) -> list[UUID]:
    ids = []
    for item in _list(operand):
        try:
            ids.append(UUID(item))
        except (ValueError, AttributeError, TypeError):
            raise ValueError(f"{item!r} is not a UUID"[:200]) from None
    return ids


def _list(operand: Any) -> list[Any]:
    if not isinstance(operand, list) or not 0 < len(operand) <= MAX_CHOICES:
        raise ValueError(f"must be compared with a list of 1 to {MAX_CHOICES} values")
    return operand
