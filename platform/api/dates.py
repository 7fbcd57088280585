"""Dates of the API. A date alone is the whole day in UTC; a time needs its UTC offset, so none is misread."""

import math
from datetime import UTC, date, datetime, timedelta

MICROSECOND = timedelta(microseconds=1)
DAY = timedelta(days=1)
EXAMPLES = "2026-01-31, 2026-01-31T09:30:00Z"


def parse_period(value: object) -> tuple[datetime, datetime]:
    """First moment, and first moment after, of a date or time. Raises ValueError saying what to send."""
    if isinstance(value, str):
        try:
            if len(value) == len("2026-01-31"):
                start = datetime.combine(date.fromisoformat(value), datetime.min.time(), UTC)
                return _bounded(start), start + DAY
            moment = datetime.fromisoformat(value)
            if moment.tzinfo is not None:
                moment = _bounded(moment.astimezone(UTC))
                return moment, moment + MICROSECOND
        except (ValueError, OverflowError):
            pass
    raise ValueError(f"must be a date or a time with its UTC offset, like {EXAMPLES}")


def parse_timestamp(value: object) -> datetime:
    """A Unix time in seconds, or a time with its UTC offset."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            if math.isfinite(value):
                return _bounded(datetime.fromtimestamp(value, UTC))
        except (ValueError, OverflowError, OSError):
            pass
    elif isinstance(value, str) and len(value) > len("2026-01-31"):
        return parse_period(value)[0]
    raise ValueError("must be a Unix time in seconds or a time with its UTC offset, like 2026-01-31T09:30:00Z")


def parse_expiration(value: object) -> datetime:
    """The first moment at which a memory no longer counts: a memory that expires on a day is used that whole day."""
    start, end = parse_period(value)
    return end if end - start == DAY else start


def format_expiration(expires_at: datetime | None) -> str | None:
    """The inverse of `parse_expiration`."""
    if expires_at is None:
        return None
    moment = expires_at.astimezone(UTC)
    if moment.time() == datetime.min.time():
        return (moment - MICROSECOND).date().isoformat()
    return moment.isoformat().replace("+00:00", "Z")


def _bounded(moment: datetime) -> datetime:
    """Leaves room for what is later added to or taken from it."""
    if not 1 < moment.year < 9999:
        raise ValueError("out of range")
    return moment
