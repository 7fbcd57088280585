"""Charts as data: what static/frontend/charts.js draws, and the same figures as a table."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from math import ceil
from typing import Any, Literal

from usage.models import Mode
from usage.tiers import TierPoint
from usage.traffic import Point, Traffic, Usage

from frontend.periods import Period

TIER_NAMES = {"gpu": "GPU memory", "host": "Host memory", "disk": "Disk"}
TIER_COLOURS = {"gpu": "inject", "host": "host", "disk": "none"}
MODE_NAMES = {Mode.INJECT: "Injected", Mode.PROMPT: "As text", Mode.NONE: "No memory"}
DAY = timedelta(days=1)
Kind = Literal["line", "bar", "area"]
Tiers = Mapping[str, Sequence[TierPoint]]


@dataclass(frozen=True, slots=True)
class Series:
    """`colour` names a colour of the style sheet."""

    name: str
    colour: str
    values: list[float | None]


@dataclass(frozen=True, slots=True)
class Chart:
    id: str
    title: str
    unit: str
    times: list[datetime]
    series: list[Series]
    kind: Kind = "line"
    step: timedelta = DAY
    top: float | None = None
    empty: str = "No request in this period."

    @property
    def data(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "unit": self.unit,
            "top": self.top,
            "labels": [self._label(time) for time in self.times],
            "series": [{"name": one.name, "colour": one.colour, "values": one.values} for one in self.series],
        }

    @property
    def json_id(self) -> str:
        return f"{self.id}-data"

    @property
    def is_empty(self) -> bool:
        return not any(value for one in self.series for value in one.values)

    @property
    def rows(self) -> Iterator[tuple[datetime, list[float | None]]]:
        """The steps in which anything was, for the table beside the chart."""
        for i, time in enumerate(self.times):
            values = [one.values[i] for one in self.series]
            if any(values):
                yield time, values

    def _label(self, time: datetime) -> str:
        if self.step >= DAY:
            return f"{time:%d %b}"
        return f"{time:%H:%M}" if self.times[-1] - self.times[0] <= DAY else f"{time:%d %b %H:%M}"


def ttft_chart(traffic: Traffic, quantile: float) -> Chart:
    def value(usage: Usage) -> float | None:
        return _rounded(usage.ttft.quantile(quantile))

    return _by_mode(traffic, "ttft", f"Time to first token, p{quantile * 100:g}", "ms", value)


def requests_chart(traffic: Traffic) -> Chart:
    seconds = traffic.step.total_seconds()
    chart = _by_mode(traffic, "requests", "Requests", "/s", lambda usage: _rounded(usage.requests / seconds, 4))
    return Chart(chart.id, chart.title, chart.unit, chart.times, chart.series, "bar", traffic.step)


def injected_chart(traffic: Traffic) -> Chart:
    """Of all prompt tokens, in every mode."""
    values = [_rounded(_share(point)) for point in traffic.points]
    series = [Series("Injected", Mode.INJECT, values)]
    times = [point.start for point in traffic.points]
    return Chart("injected", "Prompt tokens injected", "%", times, series, "area", traffic.step, top=100)


def hit_rate_chart(traffic: Tiers, period: Period) -> Chart:
    def value(point: TierPoint) -> float | None:
        return None if point.flow.hit_rate is None else round(100 * point.flow.hit_rate, 1)

    return _by_tier(traffic, period, "hit-rate", "Found in the tier", "%", value, top=100)


def reads_chart(traffic: Tiers, period: Period) -> Chart:
    def value(point: TierPoint) -> float:
        return round(point.flow.hits / period.step.total_seconds(), 4)

    return _by_tier(traffic, period, "reads", "Blobs read", "/s", value, kind="bar")


def _by_tier(
    traffic: Tiers,
    period: Period,
    id: str,
    title: str,
    unit: str,
    value: Callable[[TierPoint], float | None],
    *,
    kind: Kind = "line",
    top: float | None = None,
) -> Chart:
    times = [period.since + i * period.step for i in range(ceil((period.until - period.since) / period.step))]
    series = []
    for tier, points in traffic.items():
        at = {point.start: value(point) for point in points}
        series.append(Series(TIER_NAMES[tier], TIER_COLOURS[tier], [at.get(time) for time in times]))
    return Chart(id, title, unit, times, series, kind, period.step, top, "No blob was asked for in this period.")


def _by_mode(traffic: Traffic, id: str, title: str, unit: str, value: Callable[[Usage], float | None]) -> Chart:
    series = [
        Series(name, mode, [value(point.modes[mode]) for point in traffic.points]) for mode, name in MODE_NAMES.items()
    ]
    return Chart(id, title, unit, [point.start for point in traffic.points], series, step=traffic.step)


def _share(point: Point) -> float | None:
    prompt: Sequence[int] = [usage.prompt_tokens for usage in point.modes.values()]
    injected = sum(usage.injected_tokens for usage in point.modes.values())
    return 100 * injected / sum(prompt) if sum(prompt) else None


def _rounded(value: float | None, digits: int = 1) -> float | None:
    return None if value is None else round(value, digits)
