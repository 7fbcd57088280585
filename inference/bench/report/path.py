"""Steps to the first token, by mode."""

from collections.abc import Iterable, Sequence

from inference.bench.chat import MODES
from inference.bench.report.grid import Grid
from inference.bench.report.latency import ABSENT
from inference.bench.results import Row, in_one_run
from inference.bench.stats import Spread

WHOLE = "time to first token"


def path_grid(rows: Iterable[Row]) -> Grid:
    """A line a step, in the order of the way; the last line of a run is the sum of each request's steps."""
    paths = [row for row in rows if row.get("kind") == "path"]
    modes = [mode for mode in MODES if any(row["mode"] == mode for row in paths)]
    columns = ["shape", "facts", "step", *(f"{mode}, ms" for mode in modes)]
    return Grid(columns, [line for run in in_one_run(paths) for line in _lines(run, modes)])


def _lines(run: Sequence[Row], modes: Sequence[str]) -> list[list[str]]:
    of = {row["mode"]: row["steps"] for row in run}
    longest = max(of.values(), key=len)
    first = run[0]
    place = [str(first["shape"]), f"{first['k']:,}"]
    lines = [[*place, step, *(_spread(of.get(mode, {}).get(step)) for mode in modes)] for step in longest]
    return [*lines, [*place, WHOLE, *(_spread(_sums(of.get(mode, {}))) for mode in modes)]]


def _sums(steps: dict[str, list[float]]) -> list[float]:
    return [sum(each) for each in zip(*steps.values(), strict=True)]


def _spread(samples: Sequence[float] | None) -> str:
    return Spread.of(samples).text(2) if samples else ABSENT
