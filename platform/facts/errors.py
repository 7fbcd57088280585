"""What callers can do wrong. Messages say what to change and are safe to show."""

from collections.abc import Sequence
from uuid import UUID


class InvalidInputError(ValueError):
    """`field` is the input's name, for field-keyed error bodies."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


class FactDuplicateError(InvalidInputError):
    """An update would make a second fact with the same text in the same scopes."""


class QuotaExceededError(InvalidInputError):
    """The tenant has as many facts as its quota allows."""

    def __init__(self, limit: int) -> None:
        message = f"The quota of {limit} memories is used up. Delete some, or ask the platform's operators for more."
        super().__init__("quota", message)


class FactUnknownError(LookupError):
    """`fact_ids` name no fact of the tenant, or none that is still there."""

    def __init__(self, fact_ids: Sequence[UUID]) -> None:
        shown = ", ".join(str(fact_id) for fact_id in fact_ids[:10])
        super().__init__(f"There is no memory {shown}{', ...' if len(fact_ids) > 10 else ''}. Nothing was changed.")
        self.fact_ids = fact_ids


class FactGoneError(LookupError):
    """The fact was deleted in the meantime."""
