"""SVG plots: TTFT over k, load, TTFT's distribution, sessions."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from inference.bench.errors import BenchError
from inference.bench.report.latency import tier_name
from inference.bench.results import Row
from inference.bench.stats import Spread

TIER_STYLES = {"host": "--", "host-fp8": "--", "disk": ":", "disk-fp8": ":", "gpu-fp8": "-."}
COLOURS = {"inject": "#1b7837", "prompt": "#b2182b", "cached": "#2166ac", "none": "#888888", "mem0": "#e08214"}
STYLE: dict[Any, Any] = {
    "svg.hashsalt": "inferscale",  # the same rows give the same file
    "figure.figsize": (7.0, 4.2),
    "axes.grid": True,
    "grid.alpha": 0.3,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.frameon": False,
}


def draw_all(rows: Sequence[Row], folder: Path) -> dict[str, list[Path]]:
    """Files by section, only of what was measured. Raises BenchError without matplotlib, OSError."""
    try:
        import matplotlib
        import matplotlib.pyplot as pyplot
    except ImportError as error:
        raise BenchError(f"plots need matplotlib: pip install 'inferscale[bench]', or --no-plots ({error})") from error
    matplotlib.use("svg")
    made: dict[str, list[Path]] = {}
    with pyplot.rc_context(STYLE):
        for section, name, draw, chosen in _plots(rows):
            figure, axes = pyplot.subplots(layout="constrained")
            draw(axes, chosen)
            axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5))
            path = folder / f"{name}.svg"
            figure.savefig(path, metadata={"Date": None})
            pyplot.close(figure)
            made.setdefault(section, []).append(path)
    return made


Plot = tuple[str, str, Callable[[Any, Sequence[Row]], None], list[Row]]


def _plots(rows: Sequence[Row]) -> list[Plot]:
    """Section, file name, what draws it and its rows; a plot a shape."""
    plots: list[Plot] = []
    for shape in sorted({row["shape"] for row in rows if "shape" in row}):
        own = [row for row in rows if row.get("shape") == shape]
        for transport in ("engine", "http"):
            latency = [row for row in own if row["kind"] == "latency" and row["transport"] == transport]
            if len({row["k"] for row in latency}) > 1:
                plots.append((f"latency-{transport}", f"ttft-over-k-{transport}-{shape}", _over_k, latency))
        closed = [row for row in own if row["kind"] == "throughput" and row.get("rate") is None]
        if len({row["users"] for row in closed}) > 1:
            plots.append(("throughput", f"throughput-{shape}", _over_users, closed))
        if closed:
            most = max(row["users"] for row in closed)
            crowd = [row for row in closed if row["users"] == most]
            plots.append(("throughput", f"ttft-distribution-{shape}", _distribution, crowd))
        if sessions := [row for row in own if row["kind"] == "session"]:
            plots.append(("session", f"session-{shape}", _over_turns, sessions))
    for model in sorted({row["model"] for row in rows if row["kind"] == "accuracy"}):
        compared = [row for row in rows if row["kind"] == "accuracy" and row["model"] == model]
        plots.append(("accuracy", f"accuracy-{model}", _divergence, compared))
    return plots


def _divergence(axes: Any, rows: Sequence[Row]) -> None:
    """A line a mode, the least divergence on top; prompt mode's own is nothing."""
    of_k = {row["k"]: row["strategies"] for row in sorted(rows, key=lambda row: row["k"])}
    first = next(iter(of_k.values()))
    names = sorted((name for name in first if name != "prompt"), key=lambda name: -first[name]["kl"])
    for k, modes in of_k.items():
        shown = [name for name in names if name in modes]
        kl = [modes[name]["kl"] for name in shown]
        low, high = zip(*(modes[name]["intervals"]["kl"] for name in shown), strict=True)
        reach = [[mean - least for mean, least in zip(kl, low, strict=True)],
                 [most - mean for mean, most in zip(kl, high, strict=True)]]  # fmt: skip
        axes.errorbar(kl, [names.index(name) for name in shown], xerr=reach, fmt="o", label=f"{k} facts")
    axes.set_yticks(range(len(names)), labels=names)
    axes.set(xscale="log", xlabel="KL of the first answer token against prompt mode, nats (95% interval)")
    axes.set_title(f"{rows[0]['model']}: how far answers are from prompt mode's")


def _over_k(axes: Any, rows: Sequence[Row]) -> None:
    for name, of_line in _lines(rows, lambda row: _mode_name(row, rows)).items():
        _band(axes, name, sorted(of_line, key=lambda row: row["k"]), "k", TIER_STYLES.get(name.split(", ")[-1], "-"))
    axes.set(xscale="log", yscale="log", xlabel="facts in the prompt", ylabel="time to first token, ms")
    _ticks(axes, {row["k"] for row in rows})
    axes.set_title(f"{rows[0]['shape']}, {rows[0]['transport']}: median, middle half")


def _over_turns(axes: Any, rows: Sequence[Row]) -> None:
    for name, of_line in _lines(rows, lambda row: f"{row['mode']}, memory {row['memory']}").items():
        style = "-" if name.endswith("changing") else "--"
        _band(axes, name, sorted(of_line, key=lambda row: row["turn"]), "turn", style)
    axes.set(yscale="log", xlabel="turn", ylabel="time to first token, ms")
    axes.set_title(f"{rows[0]['shape']}: a session turn by turn, median, middle half")


def _over_users(axes: Any, rows: Sequence[Row]) -> None:
    for mode, of_line in _lines(rows, lambda row: str(row["mode"])).items():
        line = sorted(of_line, key=lambda row: row["users"])
        axes.plot(
            [row["users"] for row in line],
            [row["requests_per_s"] for row in line],
            "o-",
            color=COLOURS[mode],
            label=mode,
        )
    axes.set(xlabel="users at a time", ylabel="requests a second", ylim=(0, None))
    _ticks(axes, {row["users"] for row in rows})
    axes.set_title(f"{rows[0]['shape']}: {rows[0]['k']} facts, {rows[0]['tokens']} tokens answered, over HTTP")


def _distribution(axes: Any, rows: Sequence[Row]) -> None:
    for row in rows:
        ttft_ms = sorted(row["ttft_samples_ms"])
        shares = [(number + 1) / len(ttft_ms) for number in range(len(ttft_ms))]
        axes.step(ttft_ms, shares, where="post", color=COLOURS[row["mode"]], label=row["mode"])
    axes.set(xscale="log", xlabel="time to first token, ms", ylabel="share of requests")
    axes.set_title(f"{rows[0]['shape']}: {rows[0]['users']} users at a time")


def _ticks(axes: Any, values: set[int]) -> None:
    """At what was measured."""
    at = sorted(values)
    axes.set_xticks(at, labels=[f"{value:,}" for value in at])
    axes.minorticks_off()


def _lines(rows: Sequence[Row], name_of: Callable[[Row], str]) -> dict[str, list[Row]]:
    lines: dict[str, list[Row]] = {}
    for row in rows:
        lines.setdefault(name_of(row), []).append(row)
    return lines


def _mode_name(row: Row, rows: Sequence[Row]) -> str:
    """With the tier where several were measured."""
    tiers = {tier_name(other) for other in rows if other["mode"] == "inject"}
    return f"inject, {tier_name(row)}" if row["mode"] == "inject" and len(tiers) > 1 else str(row["mode"])


def _band(axes: Any, name: str, line: Sequence[Row], x: str, style: str = "-") -> None:
    spreads = [Spread.of(row["samples_ms"]) for row in line]
    at, colour = [row[x] for row in line], COLOURS[name.split(",")[0]]
    (drawn,) = axes.plot(
        at,
        [spread.median for spread in spreads],
        "o" + style,
        label=name,
        color=colour,
    )
    low, high = [spread.low for spread in spreads], [spread.high for spread in spreads]
    axes.fill_between(at, low, high, color=drawn.get_color(), alpha=0.15, linewidth=0)
