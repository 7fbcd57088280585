"""What a filter may say about each field of a fact. Every builder raises ValueError saying what to change."""

from collections.abc import Callable
from typing import Any

from django.db.models import Q

from api.filters.dates import date_condition
from api.filters.metadata import metadata_condition
from api.filters.operators import choices, identifiers, operators, text

Condition = Callable[[Any], Q]


def _scope(field: str) -> Condition:
    def build(value: Any) -> Q:
        condition = Q()
        for operator, operand in operators(value, ("eq", "ne", "in")):
            match operator:
                case "*":
                    condition &= ~Q(**{field: ""})
                case "eq":
                    condition &= Q(**{field: text(operand)})
                case "ne":
                    condition &= ~Q(**{field: text(operand)})
                case "in":
                    condition &= Q(**{f"{field}__in": choices(operand)})
        return condition

    return build


def _text(value: Any) -> Q:
    condition = Q()
    for operator, operand in operators(value, ("eq", "ne", "in", "contains", "icontains")):
        match operator:
            case "*":
                pass
            case "eq":
                condition &= Q(text=text(operand))
            case "ne":
                condition &= ~Q(text=text(operand))
            case "in":
                condition &= Q(text__in=choices(operand))
            case _:
                condition &= Q(**{f"text__{operator}": text(operand)})
    return condition


def _keywords(value: Any) -> Q:
    """Words of the text, in any case unless asked with `contains`."""
    if isinstance(value, str):
        return Q(text__icontains=text(value))
    condition = Q()
    for operator, operand in operators(value, ("contains", "icontains")):
        condition &= Q() if operator == "*" else Q(**{f"text__{operator}": text(operand)})
    return condition


def _categories(value: Any) -> Q:
    if isinstance(value, list):
        value = {"in": value}
    condition = Q()
    for operator, operand in operators(value, ("eq", "ne", "in", "contains")):
        match operator:
            case "*":
                condition &= Q(categories__len__gt=0)
            case "ne":
                condition &= ~Q(categories__contains=[text(operand)])
            case "in":
                condition &= Q(categories__overlap=choices(operand))
            case _:
                condition &= Q(categories__contains=[text(operand)])
    return condition


def _memory_ids(value: Any) -> Q:
    if isinstance(value, list):
        value = {"in": value}
    condition = Q()
    for operator, operand in operators(value, ("eq", "ne", "in")):
        ids = identifiers(operand if operator == "in" else [operand])
        condition &= ~Q(id__in=ids) if operator == "ne" else Q(id__in=ids)
    return condition


CONDITIONS: dict[str, Condition] = {
    **{field: _scope(field) for field in ("user_id", "agent_id", "app_id", "run_id")},
    "created_at": date_condition("created_at"),
    "updated_at": date_condition("updated_at"),
    "timestamp": date_condition("occurred_at"),
    "expiration_date": date_condition("expires_at", ends_day=True),
    "text": _text,
    "keywords": _keywords,
    "categories": _categories,
    "metadata": metadata_condition,
    "memory_ids": _memory_ids,
}
