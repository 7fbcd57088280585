"""`manage.py bench`: what it refuses, and one run from the shape to the table."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from config.env import ROOT
from django.core.management import CommandError, call_command

from inference.bench.metrics import counter
from tests.bench.rows import MACHINE, latency


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["engine", "--k", "5,x"], "takes numbers from 1 to 1000"),
        (["engine", "--k", "0"], "takes numbers from 1 to 1000"),
        (["engine", "--tier", "gpu,tape"], "some of gpu,host,disk, not 'tape'"),
        (["engine", "--shape", "gpt"], "a shape is one of llama-3.1-8b"),
        (["engine", "--samples", "1"], "at least 2"),
        (["throughput", "--rates", "0"], "numbers from 0.01"),
        (["throughput", "--users", "1.5"], "whole numbers"),
        (["latency", "--modes", "guess"], "some of none,prompt,inject,mem0"),
        (["report", "absent.json"], "absent.json"),
        (["engine", "--shape", "tiny", "--json", "absent/folder/r.json"], "absent/folder"),
    ],
)
def test_wrong_arguments_are_refused_with_what_is_right(arguments: list[str], complaint: str) -> None:
    with pytest.raises(CommandError, match=complaint):
        call_command("bench", *arguments)


def test_tables_are_written_between_the_readmes_markers(tmp_path: Path) -> None:
    readme, results = tmp_path / "README.md", tmp_path / "r.json"
    readme.write_text("# A\n<!-- bench:latency-engine -->\n<!-- /bench:latency-engine -->\nend\n")
    results.write_text(json.dumps({"machine": MACHINE, "rows": [latency("inject", [9.0, 10.0, 11.0])]}))
    call_command("bench", "report", str(results), "--readme", str(readme), "--no-plots")
    assert "| llama-3.1-8b | gpu | 50 | 10.0 (9.5 to 10.5) |" in readme.read_text()
    assert readme.read_text().endswith("\nend\n")


def test_the_readme_has_a_place_for_every_section() -> None:
    from inference.bench.report.sections import GRIDS

    text = (ROOT / "README.md").read_text()
    for name in GRIDS:
        assert f"<!-- bench:{name} -->" in text
        assert f"<!-- /bench:{name} -->" in text


def test_counters_are_summed_over_labels() -> None:
    page = '# HELP a\na{x="1"} 2.0\na{x="2"} 3.5\nab 7\n'
    assert counter(page, "a") == 5.5
    assert counter(page, "ab") == 7
    assert counter(page, "c") == 0


@pytest.mark.engine
def test_the_engine_is_measured_in_all_modes_and_not_again(tmp_path: Path) -> None:
    """A process of its own, for the engine core runs in it."""
    results = tmp_path / "r.json"
    kind = ["bench", "engine", "--shape", "tiny", "--k", "3", "--samples", "2", "--json", str(results)]
    command = [sys.executable, str(ROOT / "manage.py"), *kind]
    environment = os.environ | {"VLLM_CPU_KVCACHE_SPACE": "1"}
    subprocess.run(command, check=True, env=environment, capture_output=True, timeout=300)
    rows = {row["mode"]: row for row in json.loads(results.read_text())["rows"] if row["kind"] == "latency"}
    assert set(rows) == {"inject", "prompt", "cached", "none"}
    assert {len(row["samples_ms"]) for row in rows.values()} == {2}
    assert rows["inject"]["complete"] == 2
    assert rows["inject"]["cached_tokens"] == 90
    assert rows["prompt"]["cached_tokens"] == rows["none"]["cached_tokens"] == 0
    assert not rows["inject"]["multiprocessing"]
    again = subprocess.run(command, check=True, env=environment, capture_output=True, text=True, timeout=300)
    assert "has all of it" in again.stdout
