"""Calls of the memory API, by sort."""

from collections.abc import Iterable

from inference.bench.report.grid import Grid
from inference.bench.results import Row
from inference.bench.stats import percentiles


def memory_api_grid(rows: Iterable[Row]) -> Grid:
    """A line a sort of call."""
    calls = [row for row in rows if row.get("kind") == "memory-api" and row["samples_ms"]]
    columns = ["vectors of", "facts of the user", "call", "calls", "p50, ms", "p95", "p99"]
    return Grid(columns, [_line(row) for row in calls])


def _line(row: Row) -> list[str]:
    times = percentiles(row["samples_ms"])
    cells = [row["shape"], f"{row['facts']:,}", row["mode"], f"{len(row['samples_ms']):,}"]
    return [*cells, *(f"{times[name]:.1f}" for name in ("p50", "p95", "p99"))]
