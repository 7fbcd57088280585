"""One at a time, over all processes, for as long as the one that has begun lives."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import UUID

from django.db import connection

KEY_BITS = (1 << 63) - 1


@contextmanager
def alone_with(thing_id: UUID) -> Iterator[bool]:
    """Whether nobody else is inside with the same id. PostgreSQL forgets whoever dies inside with its connection."""
    key = thing_id.int & KEY_BITS
    with connection.cursor() as cursor:
        cursor.execute("SELECT pg_try_advisory_lock(%s)", (key,))
        (is_alone,) = cursor.fetchone()
    try:
        yield bool(is_alone)
    finally:
        if is_alone:
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_advisory_unlock(%s)", (key,))
