"""Result files grow run by run."""

import json
from pathlib import Path

import pytest

from inference.bench.machine import machine
from inference.bench.results import ResultFile, ResultsError, in_one_run, read_results
from tests.bench.rows import MACHINE, latency


def test_rows_are_on_disk_after_each_put(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    results = ResultFile(path, MACHINE)
    results.put([latency("inject", [1.0, 2.0])])
    results.put([latency("prompt", [3.0, 4.0])])
    content = json.loads(path.read_text())
    assert content["machine"] == MACHINE
    assert [(row["mode"], row["samples_ms"]) for row in content["rows"]] == [
        ("inject", [1.0, 2.0]),
        ("prompt", [3.0, 4.0]),
    ]
    assert [path] == list(tmp_path.iterdir())


def test_a_later_run_adds_its_rows_and_replaces_those_of_the_same_case(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    first = ResultFile(path, MACHINE)
    first.put([latency("inject", [1.0, 2.0]), latency("inject", [5.0, 6.0], k=5)])
    second = ResultFile(path, MACHINE)
    second.put([latency("inject", [3.0, 4.0])])
    rows = {row["k"]: row for row in read_results(path)["rows"]}
    assert rows[50]["samples_ms"] == [3.0, 4.0]
    assert rows[5]["samples_ms"] == [5.0, 6.0]
    assert (rows[5]["run"], rows[50]["run"]) == (first.run, second.run)
    assert len(in_one_run(list(rows.values()))) == 2


def test_what_is_measured_already_is_known(tmp_path: Path) -> None:
    results = ResultFile(tmp_path / "r.json", MACHINE)
    results.put([latency("inject", [1.0, 2.0])])
    assert results.has(latency("inject", []), 2)
    assert not results.has(latency("inject", []), 3)
    assert not results.has(latency("inject", [], tier="host"), 2)


def test_another_machines_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    ResultFile(path, MACHINE).put([latency("inject", [1.0, 2.0])])
    before = path.read_text()
    with pytest.raises(ResultsError, match="another machine"):
        ResultFile(path, MACHINE | {"cores": 2})
    assert path.read_text() == before


@pytest.mark.parametrize("text", ["", "[]", '{"rows": []}'])
def test_a_file_that_is_not_ours_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "r.json"
    path.write_text(text)
    with pytest.raises(ResultsError, match=r"r\.json is not"):
        ResultFile(path, MACHINE)


def test_this_machine_is_described() -> None:
    found = machine()
    assert found["cores"] >= 1
    assert found["memory_gib"] > 0
    assert found["cpu"]
    assert "torch" in found["versions"]
