"""What callers can do wrong. Messages say what to change and are safe to show."""


class InvalidInputError(ValueError):
    """`field` is the input's name, for field-keyed error bodies."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field
        self.message = message


class FactDuplicateError(InvalidInputError):
    """An update would make a second fact with the same text in the same scopes."""


class FactGoneError(LookupError):
    """The fact was deleted in the meantime."""
