"""Where rows go."""

from pathlib import Path

from inference.bench.machine import machine
from inference.bench.results import ResultFile


def results_for(path: Path | None) -> ResultFile | None:
    """Opened before anything is measured, so that a path that cannot be written is told at once."""
    return None if path is None else ResultFile(path, machine())
