"""Bytes that have to move, how long the hardware needs for them, and how long it took."""

from collections.abc import Iterable, Iterator, Sequence
from statistics import median

from inference.bench.engine_latency import FACT_TOKENS
from inference.bench.report.grid import Grid
from inference.bench.report.latency import tier_name
from inference.bench.results import Row, in_one_run
from inference.bench.shapes import BFLOAT16_BYTES, SHAPES, Shape

FP8_SHARE = 0.5


def roofline_grid(rows: Iterable[Row]) -> Grid:
    """Injection: what an injected request takes longer than its question alone, attention over the facts included.

    Rows come from one GPU machine, whose bandwidth is among them; without it there is nothing to compare with.
    """
    columns = ("shape", "work", "bytes moved", "floor, ms", "measured, ms")
    known = list(rows)
    bandwidth = next((row for row in reversed(known) if row.get("kind") == "bandwidth"), None)
    lines = [line for run in in_one_run(known) for line in _lines(run, bandwidth)] if bandwidth else []
    return Grid(columns, lines)


def _lines(run: Sequence[Row], bandwidth: Row) -> Iterator[list[str]]:
    for row in run:
        shape = SHAPES.get(row.get("shape", ""))
        if shape is None or row.get("transport") != "engine":
            continue
        if row["kind"] == "decode":
            moved = shape.parameters * BFLOAT16_BYTES
            floor = moved / bandwidth["device_copy_bytes_per_s"]
            yield _line(row["shape"], "decode step", moved, floor, median(row["samples_ms"]))
        elif row["kind"] == "latency" and row["mode"] == "inject" and (alone := _alone(row, run)):
            moved, floor = _injection(row, shape, bandwidth)
            extra = median(row["samples_ms"]) - median(alone["samples_ms"])
            yield _line(row["shape"], f"inject {row['k']} facts from {tier_name(row)}", moved, floor, extra)


def _injection(row: Row, shape: Shape, bandwidth: Row) -> tuple[int, float]:
    """Bytes and seconds: rows are read where they lie, written to the paged cache, and read there by attention."""
    written = row["k"] * FACT_TOKENS * shape.kv_bytes_per_token
    read = int(written * (FP8_SHARE if row.get("row_dtype") == "fp8" else 1))
    moved = read + 2 * written
    on_device = moved / bandwidth["device_copy_bytes_per_s"]
    if row["tier"] == "gpu":
        return moved, on_device
    return moved, max(on_device, read / bandwidth["host_to_device_bytes_per_s"])


def _alone(row: Row, run: Sequence[Row]) -> Row | None:
    same = ("shape", "transport", "k", "cudagraph", "row_dtype")
    return next(
        (other for other in run if other.get("mode") == "none" and all(other.get(n) == row.get(n) for n in same)),
        None,
    )


def _line(shape: str, work: str, moved: float, floor_s: float, measured_ms: float) -> list[str]:
    return [shape, work, _bytes(moved), f"{floor_s * 1000:.2f}", f"{measured_ms:.2f}"]


def _bytes(count: float) -> str:
    return f"{count / 1e9:.2f} GB" if count >= 1e9 else f"{count / 1e6:.1f} MB"
