"""Tables compare only what one run measured, and say what went wrong."""

import sys
from pathlib import Path
from typing import Any

import pytest

from inference.bench.errors import BenchError
from inference.bench.report.encode import encode_grid
from inference.bench.report.grid import Grid
from inference.bench.report.latency import ABSENT, latency_grid
from inference.bench.report.machines import machine_sentence
from inference.bench.report.plots import draw_all
from inference.bench.report.readme import with_sections
from inference.bench.report.roofline import roofline_grid
from inference.bench.report.sections import sections
from inference.bench.report.session import session_grid
from inference.bench.report.sizing import sizing_grid
from inference.bench.report.throughput import throughput_grid
from tests.bench.rows import MACHINE, latency, throughput

INJECT, PROMPT, NONE = [9.0, 10.0, 11.0], [39.0, 40.0, 41.0], [7.0, 8.0, 9.0]


def cell(grid: Grid, row: int, column: str) -> str:
    return grid.rows[row][list(grid.columns).index(column)]


def test_latency_has_medians_and_ratios_of_one_run() -> None:
    grid = latency_grid([latency("inject", INJECT), latency("prompt", PROMPT)])
    assert cell(grid, 0, "inject, ms") == "10.0 (9.5 to 10.5)"
    assert cell(grid, 0, "prompt / inject").startswith("4.00 (3.")
    assert "cached, ms" not in grid.columns


@pytest.mark.parametrize("other", [{"run": "two"}, {"k": 5}, {"cudagraph": "full"}, {"transport": "http"}])
def test_what_was_not_measured_together_is_not_compared(other: dict[str, Any]) -> None:
    grid = latency_grid([latency("inject", INJECT), latency("prompt", PROMPT, **other)])
    assert [row[list(grid.columns).index("prompt / inject")] for row in grid.rows] == [ABSENT, ABSENT]


def test_every_tier_is_compared_with_the_same_runs_prompt() -> None:
    rows = [latency("inject", INJECT), latency("inject", [20.0, 20.0], tier="host"), latency("prompt", PROMPT)]
    grid = latency_grid(rows)
    assert [row[1] for row in grid.rows] == ["gpu", "host"]
    assert cell(grid, 1, "prompt / inject").startswith("2.00")
    assert latency_grid([latency("inject", INJECT, row_dtype="fp8")]).rows[0][1] == "gpu-fp8"


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({}, "llama-3.1-8b"),
        ({"async_scheduling": True}, "llama-3.1-8b"),
        ({"cudagraph": "auto"}, "llama-3.1-8b, CUDA graphs auto"),
        ({"cudagraph": "full", "async_scheduling": False}, "llama-3.1-8b, CUDA graphs full, steps one by one"),
    ],
)
def test_what_differs_from_the_served_engine_is_told(fields: dict[str, Any], name: str) -> None:
    assert cell(latency_grid([latency("inject", INJECT, **fields)]), 0, "shape") == name


def test_facts_that_had_to_be_computed_are_told() -> None:
    grid = latency_grid([latency("inject", INJECT, complete=1)])
    assert cell(grid, 0, "inject, ms") == "10.0 (9.5 to 10.5) [2 incomplete]"


def test_throughput_is_compared_with_prompt_under_the_same_load() -> None:
    rows = [throughput("inject", 110.0), throughput("prompt", 20.0), throughput("prompt", 55.0, users=10)]
    grid = throughput_grid([*rows, throughput("inject", 9.0, run="two", rate=9.5)])
    times = {(row[2], row[4]): row[-1] for row in grid.rows}
    assert times == {
        ("100 users", "inject"): "5.50",
        ("100 users", "prompt"): "1.00",
        ("10 users", "prompt"): "1.00",
        ("9.5/s from 100 users", "inject"): ABSENT,
    }


def test_a_busy_client_is_told() -> None:
    row = throughput("inject", 110.0, client={"processes": 1, "cpu_share": 0.9, "loop_lag_ms": {}})
    assert throughput_grid([row]).rows[0][2] == "100 users (client busy)"


def test_roofline_counts_bytes_and_takes_the_question_alone_off() -> None:
    bandwidth = {
        "kind": "bandwidth",
        "device_copy_bytes_per_s": 4e12,
        "host_to_device_bytes_per_s": 5e10,
        "run": "another of this machine",
    }
    decode = {"kind": "decode", "shape": "llama-3.1-8b", "transport": "engine", "samples_ms": [4.8], "run": "one"}
    rows = [latency("inject", INJECT), latency("inject", INJECT, tier="host"), latency("none", NONE)]
    grid = roofline_grid([*rows, decode, bandwidth])
    assert list(map(list, grid.rows)) == [
        ["llama-3.1-8b", "inject 50 facts from gpu", "589.8 MB", "0.15", "2.00"],
        ["llama-3.1-8b", "inject 50 facts from host", "589.8 MB", "3.93", "2.00"],
        ["llama-3.1-8b", "decode step", "15.01 GB", "3.75", "4.80"],
    ]
    assert roofline_grid(rows).rows == []


def test_encoding_says_what_it_costs_those_who_chat() -> None:
    row = {"kind": "encode", "shape": "tiny", "strategy": "window(16)", "facts": 1000, "facts_per_s": 200.0}
    row |= {"fact_tokens": 30_000}
    alone = row | {"users": 0, "computed_tokens": 60_000, "computed_tokens_per_s": 12_000.0}
    waited = {"before": {"p50": 20.0, "p95": 30.0}, "during": {"p50": 25.0, "p95": 45.0}, "after": {}}
    grid = encode_grid([alone, row | {"users": 20, "ttft_ms": waited}])
    assert cell(grid, 0, "tokens of a fact") == "30.0"
    assert cell(grid, 0, "prefilled tokens a fact") == "60.0"
    assert cell(grid, 0, "prefilled / own") == "2.00"
    assert cell(grid, 1, "prefilled / own") == ABSENT
    assert cell(grid, 1, "during") == "25 / 45"
    assert cell(grid, 1, "p95 during / before") == "1.50"
    assert cell(grid, 1, "after") == ABSENT


def test_sizes_are_multiplied_from_what_was_measured() -> None:
    row = {"kind": "encode", "shape": "llama-3.1-8b", "strategy": "window(16)", "facts": 100, "fact_tokens": 3_200}
    encoded = [row | {"users": 0, "facts_per_s": 40.0}, row | {"users": 20, "facts_per_s": 80.0}]
    grid = sizing_grid([*encoded, throughput("inject", 110.0), throughput("prompt", 20.0, failed=3)])
    assert [line[1:] for line in grid.rows] == [
        ["bytes of a fact of 32.0 tokens, bfloat16 rows", "4.19 MB", "encode, window(16)"],
        ["facts in 1 GiB of GPU memory, host memory or disk", "256", "encode, window(16)"],
        ["facts encoded/s, window(16)", "40.0", "encode, window(16)"],
        ["requests/s, mode inject", "110.0", "throughput, inject, 50 facts, 100 users"],
        ["users who ask once a minute, mode inject", "6,600", "throughput, inject, 50 facts, 100 users"],
    ]


def test_sessions_are_told_turn_by_turn() -> None:
    rows = [
        {"kind": "session", "shape": "tiny", "memory": memory, "mode": mode, "turn": turn, "samples_ms": [ms, ms]}
        for memory, mode, turn, ms in (
            ("same", "prompt", 2, 12.0),
            ("same", "inject", 2, 10.0),
            ("changing", "prompt", 2, 40.0),
            ("changing", "inject", 2, 10.0),
            ("same", "prompt", 1, 40.0),
        )
    ]
    grid = session_grid(rows)
    assert [row[1] for row in grid.rows] == ["1", "2"]
    assert [part.split()[0] for part in grid.rows[1][2:]] == ["12.0", "10.0", "1.20", "40.0", "10.0", "4.00"]


def test_sections_name_the_machine_and_only_what_was_measured() -> None:
    made = sections([{"machine": MACHINE, "rows": [latency("inject", INJECT), throughput("inject", 110.0)]}])
    assert set(made) == {"latency-engine", "throughput", "sizing"}
    assert made["throughput"].startswith(
        "On 1 × A GPU (141 GiB, driver 1.2), 16 cores of A processor, 128 GiB memory; Python 3.12.1, vllm 0.26.0.\n\n| "
    )


def test_machines_are_not_mixed() -> None:
    other = MACHINE | {"gpus": [], "cores": 2}
    files = [{"machine": machine, "rows": [latency("inject", INJECT)]} for machine in (MACHINE, other, MACHINE)]
    text = sections(files)["latency-engine"]
    assert text.count("| shape |") == 2
    assert machine_sentence(other) in text


def test_text_outside_the_markers_stays() -> None:
    text = "before\n<!-- bench:a -->\nold\n<!-- /bench:a -->\nbetween\n<!-- bench:b -->\nkept\n<!-- /bench:b -->\nafter"
    new = with_sections(text, {"a": r"new \1"})
    assert new == text.replace("old", r"new \1")
    with pytest.raises(BenchError, match="bench:c"):
        with_sections(text, {"c": "x"})


def test_plots_without_matplotlib_name_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(BenchError, match=r"inferscale\[bench\]"):
        draw_all([], tmp_path)


def test_plots_are_svg_and_the_same_each_time(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    rows = [
        *(
            latency(mode, [n, n + 1.0], k=k)
            for n, (mode, k) in enumerate((("inject", 5), ("inject", 50), ("prompt", 5)))
        ),
        throughput("inject", 110.0),
        throughput("inject", 50.0, users=10),
    ]
    (tmp_path / "again").mkdir()
    drawn, again = draw_all(rows, tmp_path), draw_all(rows, tmp_path / "again")
    assert [path.name for paths in drawn.values() for path in paths] == [
        "ttft-over-k-engine-llama-3.1-8b.svg",
        "throughput-llama-3.1-8b.svg",
        "ttft-distribution-llama-3.1-8b.svg",
    ]
    for first, second in zip(drawn["throughput"], again["throughput"], strict=True):
        assert first.read_bytes().startswith(b"<?xml")
        assert first.read_bytes() == second.read_bytes()
