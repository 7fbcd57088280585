"""TTFT by k and mode, with the ratios that matter."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from rich.table import Table

from inference.bench.report.grid import Grid
from inference.bench.results import Row, in_one_run
from inference.bench.stats import Ratio, Spread

MODES = ("none", "inject", "cached", "prompt", "mem0")
RATIOS = (("prompt", "inject"), ("inject", "cached"), ("mem0", "inject"), ("prompt", "none"))
ABSENT = "–"


def latency_grid(rows: Iterable[Row]) -> Grid:
    """A line for each shape, transport, setting, tier and k of a run; columns only for modes that were measured."""
    latency = [row for row in rows if row.get("kind") == "latency"]
    modes = [mode for mode in MODES if any(row["mode"] == mode for row in latency)]
    pairs = [pair for pair in RATIOS if set(pair) <= set(modes)]
    columns = ["shape", "tier", "facts", *(f"{mode}, ms" for mode in modes), *(" / ".join(pair) for pair in pairs)]
    lines = [line for group in _groups(latency) for line in _lines(group, modes, pairs)]
    return Grid(columns, lines)


def latency_table(rows: Sequence[Row]) -> Table:
    return latency_grid(rows).rich("TTFT in ms, median (middle half); ratios of medians (95% interval)")


def tier_name(row: Row) -> str:
    return f"{row['tier']}-fp8" if row.get("row_dtype") == "fp8" else str(row["tier"])


def _groups(rows: Sequence[Row]) -> list[list[Row]]:
    """Rows that may be compared: one run, one setting, one k."""

    def setting(row: Row) -> tuple[Any, ...]:
        return (row["shape"], row["transport"], row.get("cudagraph") or "", row.get("row_dtype") or "", row["k"])

    return [list(group) for run in in_one_run(rows) for _, group in groupby(sorted(run, key=setting), key=setting)]


def _lines(group: Sequence[Row], modes: Sequence[str], pairs: Sequence[tuple[str, str]]) -> list[list[str]]:
    """One line a tier of the injected requests; the other modes do not depend on it."""
    fixed = {row["mode"]: row for row in group if row["mode"] != "inject"}
    injected: list[Row | None] = [row for row in group if row["mode"] == "inject"]
    lines = []
    for inject in injected or [None]:
        of = {**fixed, "inject": inject} if inject else fixed
        first = inject or group[0]
        cells = [_shape_name(first), tier_name(first), f"{first['k']:,}"]
        cells += [_spread(of.get(mode)) for mode in modes]
        cells += [_ratio(of.get(above), of.get(below)) for above, below in pairs]
        lines.append(cells)
    return lines


def _shape_name(row: Row) -> str:
    """With what differs from how `serve` runs a model."""
    name, graphs = str(row["shape"]), row.get("cudagraph")
    name += "" if graphs in (None, "served") else f", CUDA graphs {graphs}"
    return name + (", steps one by one" if row.get("async_scheduling") is False else "")


def _spread(row: Row | None) -> str:
    """With a warning where facts that should have been injected were computed."""
    if row is None or not row["samples_ms"]:
        return ABSENT
    spread = Spread.of(row["samples_ms"])
    missed = len(row["samples_ms"]) - row.get("complete", len(row["samples_ms"]))
    return spread.text(1 if spread.median < 200 else 0) + (f" [{missed} incomplete]" if missed else "")


def _ratio(above: Row | None, below: Row | None) -> str:
    if not above or not below or not above["samples_ms"] or not below["samples_ms"]:
        return ABSENT
    return str(Ratio.of(above["samples_ms"], below["samples_ms"]))
