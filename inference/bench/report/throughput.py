"""Requests a second and waiting times by load."""

from collections.abc import Iterable, Sequence

from inference.bench.report.grid import Grid
from inference.bench.report.latency import ABSENT, tier_name
from inference.bench.results import Row, in_one_run

BUSY_CLIENT = 0.8


def throughput_grid(rows: Iterable[Row]) -> Grid:
    """A line a mode; the last column compares requests/s with prompt mode under the same load of the same run."""
    columns = (
        "shape", "tier", "load", "facts", "mode", "requests", "failed", "requests/s", "tokens/s", "TTFT p50, ms", "p95",
        "p99", "inter-token p50, ms", "p95", "p99", "requests/s, times prompt",
    )  # fmt: skip
    loads = [row for row in rows if row.get("kind") == "throughput"]
    lines = [_line(row, run) for run in in_one_run(loads) for row in sorted(run, key=_load)]
    return Grid(columns, lines)


def load_name(row: Row) -> str:
    users = f"{row['users']} users"
    return users if row.get("rate") is None else f"{row['rate']:g}/s from {users}"


def _load(row: Row) -> tuple[str, float, int, str]:
    return row["shape"], row.get("rate") or 0, row["users"], row["mode"]


def _line(row: Row, run: Sequence[Row]) -> list[str]:
    same = (row["shape"], row["users"], row.get("rate"), row["k"], row["tokens"])
    prompt = next(
        (
            other
            for other in run
            if other["mode"] == "prompt"
            and (other["shape"], other["users"], other.get("rate"), other["k"], other["tokens"]) == same
        ),
        None,
    )
    times = f"{row['requests_per_s'] / prompt['requests_per_s']:.2f}" if prompt and prompt["requests_per_s"] else ABSENT
    client = " (client busy)" if row["client"]["cpu_share"] > BUSY_CLIENT else ""
    return [
        row["shape"],
        tier_name(row),
        load_name(row) + client,
        f"{row['k']}",
        row["mode"],
        f"{row['requests']:,}",
        f"{row['failed']:,}",
        f"{row['requests_per_s']:.1f}",
        f"{row['tokens_per_s']:,.0f}",
        *(_percentiles(row["ttft_ms"])),
        *(_percentiles(row["itl_ms"])),
        times,
    ]


def _percentiles(of: dict[str, float]) -> list[str]:
    return [f"{of[name]:.1f}" if name in of else ABSENT for name in ("p50", "p95", "p99")]
