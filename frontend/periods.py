"""The span of time that a page shows, as its address says it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import urlencode

from django.utils import timezone
from django.utils.dateparse import parse_datetime

CHOICES = {
    "1h": ("1 hour", timedelta(hours=1)),
    "6h": ("6 hours", timedelta(hours=6)),
    "24h": ("24 hours", timedelta(hours=24)),
    "7d": ("7 days", timedelta(days=7)),
    "30d": ("30 days", timedelta(days=30)),
    "90d": ("90 days", timedelta(days=90)),
}
DEFAULT = "24h"
CUSTOM = "custom"
LONGEST = timedelta(days=366)
# The step that gives a chart about 50 to 90 points; those of an hour and more are made of whole hours.
STEPS = tuple(timedelta(minutes=minutes) for minutes in (1, 5, 20, 60, 180, 720, 1440, 2880, 7200))
MOST_POINTS = 90


@dataclass(frozen=True, slots=True)
class Period:
    """`error` says what was wrong with the address; the default is shown then."""

    name: str
    since: datetime
    until: datetime
    error: str = ""

    @classmethod
    def parse(cls, query: Mapping[str, str], *, now: datetime | None = None) -> "Period":
        now = now or timezone.now()
        name = query.get("period") or DEFAULT
        if name == CUSTOM:
            return _custom(query.get("from", ""), query.get("to", ""), now)
        if name not in CHOICES:
            known = ", ".join((*CHOICES, CUSTOM))
            return _last(DEFAULT, now, f"There is no period “{name}”: choose one of {known}.")
        return _last(name, now)

    @property
    def step(self) -> timedelta:
        length = self.until - self.since
        return next((step for step in STEPS if length / step <= MOST_POINTS), STEPS[-1])

    @property
    def is_live(self) -> bool:
        return self.name != CUSTOM

    @property
    def label(self) -> str:
        return CHOICES[self.name][0] if self.name in CHOICES else "Custom"

    @property
    def query(self) -> str:
        if self.name != CUSTOM:
            return urlencode({"period": self.name})
        return urlencode({"period": CUSTOM, "from": self.since_field, "to": self.until_field})

    @property
    def since_field(self) -> str:
        """As an input of the type datetime-local takes it, in UTC."""
        return f"{self.since.astimezone(UTC):%Y-%m-%dT%H:%M}"

    @property
    def until_field(self) -> str:
        return f"{self.until.astimezone(UTC):%Y-%m-%dT%H:%M}"


def _last(name: str, now: datetime, error: str = "") -> Period:
    return Period(name, now - CHOICES[name][1], now, error)


def _custom(since_text: str, until_text: str, now: datetime) -> Period:
    since, until = _time(since_text), _time(until_text) or now
    if since is None:
        return _last(DEFAULT, now, "A custom period needs a beginning, such as 2026-01-31T08:00 (UTC).")
    if since >= until:
        return _last(DEFAULT, now, "The period ends before it begins.")
    if until - since > LONGEST:
        return _last(DEFAULT, now, f"A period has at most {LONGEST.days} days.")
    return Period(CUSTOM, since, until)


def _time(text: str) -> datetime | None:
    try:
        time = parse_datetime(text)
    except ValueError:
        return None
    return time and (time if time.tzinfo else time.replace(tzinfo=UTC))
