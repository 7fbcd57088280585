"""Pages of the dashboard."""

from collections.abc import Iterable

from inference.bench.report.grid import Grid
from inference.bench.results import Row
from inference.bench.stats import percentiles


def pages_grid(rows: Iterable[Row]) -> Grid:
    """A line a page, the slowest first."""
    pages = [row for row in rows if row.get("kind") == "pages" and row["samples_ms"]]
    columns = ["page", "facts", "request records", "asked", "p50, ms", "p95", "longest"]
    return Grid(columns, [_line(row) for row in sorted(pages, key=_median, reverse=True)])


def _median(row: Row) -> float:
    return percentiles(row["samples_ms"])["p50"]


def _line(row: Row) -> list[str]:
    times = percentiles(row["samples_ms"])
    cells = [f"`{row['mode']}`", f"{row['facts']:,}", f"{row['records']:,}", str(len(row["samples_ms"]))]
    return [*cells, f"{times['p50']:.0f}", f"{times['p95']:.0f}", f"{max(row['samples_ms']):.0f}"]
