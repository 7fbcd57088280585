"""Modes by how near their answers are to prompt mode's."""

from collections.abc import Iterable, Mapping
from typing import Any

from inference.bench.report.grid import Grid
from inference.bench.report.latency import ABSENT
from inference.bench.results import Row

POINTS = 100


def accuracy_grid(rows: Iterable[Row]) -> Grid:
    """A line a model, k and mode; differences to prompt mode in points, with their paired 95% intervals."""
    columns = (
        "model", "k", "questions", "mode", "KL of the first token", "same top-1", "gold-token accuracy",
        "minus prompt, points", "F1", "minus prompt, points", "nats a gold token", "tokens encoded a fact", "facts/s",
    )  # fmt: skip
    lines = []
    for summary in (row for row in rows if row.get("kind") == "accuracy"):
        for name, of in summary["strategies"].items():
            bold = "**" if name == summary["default"] else ""
            lines.append(
                [summary["model"], str(summary["k"]), f"{summary['questions']:,}", f"{bold}{name}{bold}", *_cells(of)]
            )
    return Grid(columns, lines)


def _cells(of: Mapping[str, Any]) -> list[str]:
    minus, encoding = of.get("minus_prompt", {}), of.get("encoding", {})
    return [
        f"{of['kl']:.3f}",
        f"{of['top1']:.3f}",
        f"{of['gold_token_accuracy']:.4f}",
        _points(minus.get("gold_token_accuracy")),
        f"{of['f1']:.4f}",
        _points(minus.get("f1")),
        f"{of['nll']:.3f}",
        f"{encoding['tokens_per_fact']:,.0f}" if encoding else ABSENT,
        f"{encoding['facts_per_s']:,.1f}" if encoding else ABSENT,
    ]


def _points(estimate: list[float] | None) -> str:
    if estimate is None:
        return ABSENT
    mean, low, high = (POINTS * value for value in estimate)
    return f"{mean:+.2f} ({low:+.2f} to {high:+.2f})"
