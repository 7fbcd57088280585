"""Templates that print today's date: the header gets a fixed one, so that its KV outlives the day."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from typing import Any

FIXED_DATE = date(2024, 7, 26)
SENTINEL = "\ue000date\ue000"
ARGUMENT = "date_string"
Render = Callable[..., str]


@dataclass(frozen=True, slots=True)
class DatePin:
    """How to hold a template's date still: through its argument, or by shadowing its clock in the source."""

    format: str | None = None  # strftime format of the date it prints by itself; None: none
    argument: bool = False
    prelude: str = ""

    @property
    def template_kwargs(self) -> dict[str, Any]:
        return {ARGUMENT: FIXED_DATE.strftime(self.format or "%d %b %Y")} if self.argument else {}

    def real_date(self, asked: object, today: date) -> str | None:
        """The date the template would have printed: the client's own, else today's, None when it prints none."""
        if self.argument and isinstance(asked, str):
            return asked
        return today.strftime(self.format) if self.format else None


def probe_date(render: Render) -> DatePin:
    """`render(**template_kwargs)` renders some fixed chat."""
    formats: list[str] = []

    def clock(format: str) -> str:
        formats.append(format)
        return SENTINEL

    takes_argument = SENTINEL in render(**{ARGUMENT: SENTINEL})
    if SENTINEL not in render(strftime_now=clock):
        return DatePin(argument=takes_argument)
    if takes_argument and SENTINEL not in render(strftime_now=clock, **{ARGUMENT: "today"}):
        return DatePin(formats[-1], argument=True)
    fixed = FIXED_DATE.strftime(formats[-1])
    # The newline after the tag is eaten by trim_blocks, and keeps the source's own first newline from that.
    return DatePin(formats[-1], prelude="{%- macro strftime_now(format) -%}" + fixed + "{%- endmacro %}\n")
