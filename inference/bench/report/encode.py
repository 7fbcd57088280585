"""Facts a second, and the waiting it costs others."""

from collections.abc import Iterable

from inference.bench.report.grid import Grid
from inference.bench.report.latency import ABSENT
from inference.bench.results import Row
from inference.bench.shapes import SHAPES


def encode_grid(rows: Iterable[Row]) -> Grid:
    """The least a fact costs is to prefill its own tokens once: what was prefilled is told beside that.

    TFLOP/s: the matrices' arithmetic for the tokens that were prefilled, for shapes that are known.
    """
    columns = (
        "shape", "strategy", "encoder", "users who chat", "facts", "facts/s", "tokens of a fact",
        "prefilled tokens a fact", "prefilled / own", "TFLOP/s",
        "TTFT p50 / p95 before, ms", "during", "after", "p95 during / before",
    )  # fmt: skip
    return Grid(columns, [_line(row) for row in rows if row.get("kind") == "encode"])


def _line(row: Row) -> list[str]:
    own = row.get("fact_tokens")
    computed, shape = row.get("computed_tokens"), SHAPES.get(row["shape"])
    flops = 2 * shape.parameters * row["computed_tokens_per_s"] if shape and computed else None
    waited = row.get("ttft_ms") or {}
    before, during = (waited.get(name) or {} for name in ("before", "during"))
    times = f"{during['p95'] / before['p95']:.2f}" if before and during else ABSENT
    return [
        row["shape"],
        row["strategy"],
        row.get("encoder", "engine"),
        str(row["users"]),
        f"{row['facts']:,}",
        f"{row['facts_per_s']:.1f}",
        f"{own / row['facts']:.1f}" if own else ABSENT,
        f"{computed / row['facts']:.1f}" if computed else ABSENT,
        f"{computed / own:.2f}" if computed and own else ABSENT,
        f"{flops / 1e12:.1f}" if flops else ABSENT,
        *(_waited(waited.get(name)) for name in ("before", "during", "after")),
        times,
    ]


def _waited(of: dict[str, float] | None) -> str:
    return f"{of['p50']:.0f} / {of['p95']:.0f}" if of else ABSENT
