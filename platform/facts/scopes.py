"""Whose memory: the four names a fact can carry."""

import unicodedata
from dataclasses import dataclass, fields

from facts.errors import InvalidInputError

MAX_NAME = 255


@dataclass(frozen=True, slots=True)
class Scopes:
    """'' means absent. The memory's owner is the first one named of user, agent, app, run.

    Raises InvalidInputError (a ValueError) on a name that cannot be one.
    """

    user_id: str = ""
    agent_id: str = ""
    app_id: str = ""
    run_id: str = ""

    def __post_init__(self) -> None:
        for field in fields(self):
            check_name(field.name, getattr(self, field.name))

    @property
    def named(self) -> dict[str, str]:
        """The scopes that are present."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name))}

    @property
    def owner_kind(self) -> str:
        """user, agent, app or run. Raises InvalidInputError when no scope is named."""
        return self._owner_field().removesuffix("_id")

    @property
    def owner_name(self) -> str:
        return str(getattr(self, self._owner_field()))

    def _owner_field(self) -> str:
        named = self.named
        if not named:
            raise InvalidInputError("user_id", "name at least one of user_id, agent_id, app_id, run_id")
        return next(iter(named))


def check_name(field: str, value: object) -> None:
    """Raises InvalidInputError on what cannot name anything; '' names nothing."""
    if not isinstance(value, str):
        raise InvalidInputError(field, f"{field} must be a string")
    if value and not value.strip():
        raise InvalidInputError(field, f"{field} must contain text")
    if len(value) > MAX_NAME:
        raise InvalidInputError(field, f"{field} must have at most {MAX_NAME} characters, not {len(value)}")
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in value):
        raise InvalidInputError(field, f"{field} must not contain control characters")
