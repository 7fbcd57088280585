"""Numbers with their units, times with their zone."""

from datetime import UTC, datetime, timedelta
from typing import TypeGuard, TypeVar

from django import template
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()
T = TypeVar("T")
NOTHING = "–"
BYTES = ("B", "KB", "MB", "GB", "TB", "PB")
SPANS = ((86400 * 365, "y"), (86400 * 30, "mo"), (86400, "d"), (3600, "h"), (60, "min"), (1, "s"))


def _is_there(value: T | None) -> TypeGuard[T]:
    """Templates give '' for what does not exist at all."""
    return value is not None and value != ""


@register.filter
def milliseconds(value: float | None) -> str:
    if not _is_there(value):
        return NOTHING
    if value >= 10_000:
        return f"{value / 1000:,.1f} s"
    return f"{value:,.0f} ms" if value >= 10 else f"{value:.1f} ms"


@register.filter
def bytes_of(value: float | None) -> str:
    """Decimal units."""
    if not _is_there(value):
        return NOTHING
    size, unit = float(value), 0
    while size >= 1000 and unit < len(BYTES) - 1:
        size, unit = size / 1000, unit + 1
    return f"{size:.0f} {BYTES[unit]}" if unit == 0 or size >= 100 else f"{size:.1f} {BYTES[unit]}"


@register.filter
def number(value: float | None) -> str:
    return f"{value:,.0f}" if _is_there(value) else NOTHING


@register.filter
def percent(value: float | None) -> str:
    """Of a share of 1."""
    if not _is_there(value):
        return NOTHING
    return f"{value * 100:.1f}%" if 0 < value < 0.1 or 0.99 < value < 1 else f"{value * 100:.0f}%"


@register.filter
def times(value: float | None) -> str:
    return f"{value:.1f}×" if _is_there(value) else NOTHING


@register.filter
def per_second(value: float | None) -> str:
    if not _is_there(value):
        return NOTHING
    if 0 < value < 0.1:
        return f"{value * 60:.1f}/min" if value * 60 >= 0.1 else f"{value * 3600:.1f}/h"
    return f"{value:,.1f}/s"


@register.filter
def moment(value: datetime | None) -> SafeString | str:
    """In UTC, and says so."""
    if not _is_there(value):
        return NOTHING
    utc = value.astimezone(UTC)
    return format_html('<time datetime="{}">{} UTC</time>', utc.isoformat(), f"{utc:%d %b %Y, %H:%M}")


@register.filter
def ago(value: datetime | None) -> SafeString | str:
    """How long ago, or in how long; the moment itself as a title."""
    if not _is_there(value):
        return "never"
    utc = value.astimezone(UTC)
    passed = timezone.now() - value
    text = f"{span(passed)} ago" if passed >= timedelta(0) else f"in {span(-passed)}"
    return format_html(
        '<time datetime="{}" title="{} UTC">{}</time>', utc.isoformat(), f"{utc:%d %b %Y, %H:%M:%S}", text
    )


@register.filter
def span(value: timedelta) -> str:
    seconds = int(value.total_seconds())
    size, unit = next((pair for pair in SPANS if seconds >= pair[0]), (1, "s"))
    return f"{seconds // size} {unit}"


@register.filter
def of(value: float | None, whole: float | None) -> float:
    """A share from 0 to 1 for bars; 0 where there is nothing to compare."""
    return min(1.0, float(value) / float(whole)) if value and whole else 0.0


@register.filter
def bar(share: float) -> str:
    """A length in an SVG."""
    return f"{share * 100:.2f}%"


@register.filter
def said(value: object) -> str:
    """A detail of the audit trail: a list as its items."""
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)
