"""Result files: `{"machine": {...}, "rows": [...]}`, added to run by run."""

import json
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

from inference.bench.errors import BenchError

Row = dict[str, Any]

# What a row was measured on and how: a later run of the same replaces it.
CASE = (
    "kind", "shape", "tier", "transport", "mode", "k", "row_dtype", "cudagraph", "users", "rate", "strategy", "memory",
    "turn", "tokens", "window",
)  # fmt: skip


class ResultsError(BenchError):
    """The file is not one of ours, or another machine's."""


class ResultFile:
    """Rows on disk after each `put`; `run` marks those of one run, the only ones whose modes may be compared."""

    def __init__(self, path: Path, machine: dict[str, Any]) -> None:
        """Raises ResultsError, and OSError when the folder is missing."""
        self.path, self.run = path, uuid4().hex[:8]
        self.content: dict[str, Any] = read_results(path) if path.exists() else {"machine": machine, "rows": []}
        if self.content["machine"] != machine:
            raise ResultsError(f"{path} was measured on another machine or with other versions; choose another file")
        self._write()

    @property
    def rows(self) -> list[Row]:
        return list(self.content["rows"])

    def put(self, rows: Iterable[Row]) -> None:
        """Add rows; those of the same case are replaced."""
        new: list[Row] = [{**row, "run": self.run} for row in rows]
        cases = {case(row) for row in new}
        self.content["rows"] = [row for row in self.content["rows"] if case(row) not in cases] + new
        self._write()

    def has(self, row: Row, samples: int) -> bool:
        """Whether the case was measured with at least so many samples."""
        return any(case(old) == case(row) and len(old.get("samples_ms", ())) >= samples for old in self.rows)

    def _write(self) -> None:
        """Whole or not at all: a run that is cut off leaves the rows before."""
        aside = self.path.with_name(f"{self.path.name}.{os.getpid()}.writing")
        aside.write_text(_compact(self.content))
        aside.replace(self.path)


def case(row: Row) -> tuple[Any, ...]:
    return tuple(row.get(name) for name in CASE)


def read_results(path: Path) -> dict[str, Any]:
    """Raises ResultsError, OSError."""
    content = _json(path)
    if not isinstance(content, dict) or not {"machine", "rows"} <= set(content):
        raise ResultsError(f"{path} is not a result file of manage.py bench: it needs machine and rows")
    return content


def read_measured(path: Path) -> dict[str, Any]:
    """A result file, or a summary of `bench accuracy` as one with that single row. Raises ResultsError, OSError."""
    content = _json(path)
    if isinstance(content, dict) and {"machine", "strategies"} <= set(content):
        return {"machine": content["machine"], "rows": [{"kind": "accuracy", **content}]}
    return read_results(path)


def in_one_run(rows: Sequence[Row]) -> list[list[Row]]:
    """Rows grouped by the run that measured them, oldest first."""
    runs: dict[Any, list[Row]] = {}
    for row in rows:
        runs.setdefault(row.get("run"), []).append(row)
    return list(runs.values())


def rounded(samples: Iterable[float]) -> list[float]:
    """Microseconds are enough."""
    return [round(sample, 3) for sample in samples]


def _compact(content: dict[str, Any]) -> str:
    """A line a row: readable in a diff, and samples do not take a line each."""
    rows = ",\n  ".join(json.dumps(row) for row in content["rows"])
    head = {name: value for name, value in content.items() if name != "rows"}
    return json.dumps(head)[:-1] + f', "rows": [\n  {rows}\n]}}\n'


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except ValueError as error:
        raise ResultsError(f"{path} is not JSON: {error}") from error
