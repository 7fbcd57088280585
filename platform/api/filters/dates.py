"""Conditions on dates. A date alone is its whole day, so `lte` a day includes that day."""

from collections.abc import Callable
from typing import Any

from django.db.models import Q

from api.dates import MICROSECOND, parse_period
from api.filters.operators import operators


def date_condition(field: str, *, ends_day: bool = False) -> Callable[[Any], Q]:
    """`ends_day`: the column holds the first moment after what the caller sees, as expiry does."""

    def build(value: Any) -> Q:
        condition = Q()
        for operator, operand in operators(value, ("eq", "ne", "gt", "gte", "lt", "lte")):
            if operator == "*":
                condition &= Q(**{f"{field}__isnull": False})
                continue
            start, end = parse_period(operand)
            if ends_day:
                start, end = start + MICROSECOND, end + MICROSECOND
            within = Q(**{f"{field}__gte": start, f"{field}__lt": end})
            match operator:
                case "eq":
                    condition &= within
                case "ne":
                    condition &= ~within
                case "gt":
                    condition &= Q(**{f"{field}__gte": end})
                case "gte":
                    condition &= Q(**{f"{field}__gte": start})
                case "lt":
                    condition &= Q(**{f"{field}__lt": start})
                case "lte":
                    condition &= Q(**{f"{field}__lt": end})
        return condition

    return build
