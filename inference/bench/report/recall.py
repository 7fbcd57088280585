"""Evidence found, by way and k."""

from collections.abc import Iterable

from inference.bench.report.grid import Grid
from inference.bench.report.latency import ABSENT
from inference.bench.results import Row


def recall_grid(rows: Iterable[Row]) -> Grid:
    """A line a way of searching, a column a k."""
    recall = [row for row in rows if row.get("kind") == "recall"]
    ks = sorted({row["k"] for row in recall})
    ways = list(dict.fromkeys((row["shape"], row["mode"]) for row in recall))
    of = {(row["shape"], row["mode"], row["k"]): row for row in recall}
    lines = [[*way, *(_cell(of.get((*way, k))) for k in ks)] for way in ways]
    return Grid(["vectors of", "found by", *(f"best {k}" for k in ks)], lines)


def _cell(row: Row | None) -> str:
    if row is None:
        return ABSENT
    low, high = row["interval"]
    return f"{row['recall']:.3f} ({low:.3f} to {high:.3f})"
