"""TTFT by turn."""

from collections.abc import Iterable

from inference.bench.report.grid import Grid
from inference.bench.report.latency import ABSENT
from inference.bench.results import Row
from inference.bench.session import MEMORIES, MODES
from inference.bench.stats import Ratio, Spread


def session_grid(rows: Iterable[Row]) -> Grid:
    """A line a shape and turn; the memory is the same in all turns, or changes between them."""
    sessions = [row for row in rows if row.get("kind") == "session"]
    columns = ["shape", "turn"]
    for memory in MEMORIES:
        columns += [*(f"{memory} memory: {mode}, ms" for mode in MODES), "prompt / inject"]
    turns = sorted({(row["shape"], row["turn"]) for row in sessions})
    return Grid(columns, [_line(shape, turn, sessions) for shape, turn in turns])


def _line(shape: str, turn: int, rows: list[Row]) -> list[str]:
    of = {
        (row["memory"], row["mode"]): row["samples_ms"] for row in rows if (row["shape"], row["turn"]) == (shape, turn)
    }
    cells = [shape, str(turn)]
    for memory in MEMORIES:
        samples = [of.get((memory, mode)) for mode in MODES]
        cells += [Spread.of(each).text(1) if each else ABSENT for each in samples]
        prompt, inject = samples
        cells.append(str(Ratio.of(prompt, inject)) if prompt and inject else ABSENT)
    return cells
