"""What stands between which markers."""

from collections.abc import Callable, Iterable
from typing import Any

from inference.bench.report.accuracy import accuracy_grid
from inference.bench.report.encode import encode_grid
from inference.bench.report.grid import Grid
from inference.bench.report.latency import latency_grid
from inference.bench.report.machines import machine_sentence
from inference.bench.report.memory_api import memory_api_grid
from inference.bench.report.pages import pages_grid
from inference.bench.report.path import path_grid
from inference.bench.report.recall import recall_grid
from inference.bench.report.roofline import roofline_grid
from inference.bench.report.session import session_grid
from inference.bench.report.sizing import sizing_grid
from inference.bench.report.throughput import throughput_grid
from inference.bench.results import Row

Results = dict[str, Any]
"""A result file's content."""


def _of_transport(transport: str) -> Callable[[Iterable[Row]], Grid]:
    return lambda rows: latency_grid(row for row in rows if row.get("transport") == transport)


GRIDS: dict[str, Callable[[Iterable[Row]], Grid]] = {
    "latency-engine": _of_transport("engine"),
    "latency-http": _of_transport("http"),
    "path": path_grid,
    "throughput": throughput_grid,
    "encode": encode_grid,
    "session": session_grid,
    "roofline": roofline_grid,
    "sizing": sizing_grid,
    "accuracy": accuracy_grid,
    "recall": recall_grid,
    "memory-api": memory_api_grid,
    "pages": pages_grid,
}


def sections(files: Iterable[Results]) -> dict[str, str]:
    """Markdown by marker name: for each machine its sentence and table; only what was measured."""
    machines: list[tuple[dict[str, Any], list[Row]]] = []
    for content in files:
        rows = next((rows for machine, rows in machines if machine == content["machine"]), None)
        if rows is None:
            machines.append((content["machine"], rows := []))
        rows += content["rows"]
    made = {}
    for name, grid_of in GRIDS.items():
        grids = [(machine, grid_of(rows)) for machine, rows in machines]
        parts = [f"{machine_sentence(machine)}\n\n{grid.markdown()}" for machine, grid in grids if grid.rows]
        if parts:
            made[name] = "\n\n".join(parts)
    return made
