"""The first account of an installation, made by whoever can read its log or its data folder."""

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection, transaction
from django.utils.crypto import constant_time_compare

CODE_LENGTH = 20


class SetupOverError(RuntimeError):
    """There is an account already."""


class WrongCodeError(ValueError):
    """Not this installation's code."""


def setup_is_open() -> bool:
    return not User.objects.exists()


def setup_code() -> str:
    """Always the same for one secret key."""
    return settings.ENV.derived_secret("first-account")[:CODE_LENGTH]


@transaction.atomic
def first_account_create(*, code: str, username: str, password: str) -> User:
    """A superuser. Raises WrongCodeError, SetupOverError."""
    if not constant_time_compare(code.strip(), setup_code()):
        raise WrongCodeError("That is not this installation's code.")
    with connection.cursor() as cursor:  # of two who come at once one is the first
        cursor.execute(f"LOCK TABLE {User._meta.db_table} IN SHARE ROW EXCLUSIVE MODE")
    if not setup_is_open():
        raise SetupOverError("There is an account already: sign in with it.")
    return User.objects.create_superuser(username, password=password)
