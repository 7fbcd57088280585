"""Runs named child processes in the foreground: log files, readiness, and nothing left behind."""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

STOP_SECONDS = 15
POLL_SECONDS = 0.2
PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None) if sys.platform == "linux" else None


class ChildError(RuntimeError):
    """A child ended or did not become ready; the message has its name, status and last log lines."""


@dataclass(frozen=True)
class Child:
    name: str
    command: tuple[str, ...]
    ready: Callable[[], bool] | None = None
    ready_seconds: float = 300
    environment: Mapping[str, str] = field(default_factory=dict)


class Supervisor:
    """Use as a context manager: leaving it, by whatever exception, stops every child, the last one started first."""

    def __init__(self, log_folder: Path) -> None:
        self.log_folder = log_folder
        self._running: dict[str, tuple[Child, subprocess.Popen[bytes]]] = {}

    def __enter__(self) -> "Supervisor":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def log(self, name: str) -> Path:
        return self.log_folder / f"{name}.log"

    def pid(self, name: str) -> int:
        return self._running[name][1].pid

    def start(self, child: Child) -> None:
        """Returns at once. The log of the run before stays beside the new one, as NAME.log.1."""
        self.log_folder.mkdir(parents=True, exist_ok=True)
        log = self.log(child.name)
        if log.exists():
            log.replace(log.with_name(log.name + ".1"))
        with log.open("wb") as output:
            process = subprocess.Popen(
                child.command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, "PYTHONUNBUFFERED": "1", **child.environment},
                start_new_session=True,
                preexec_fn=end_with_parent,
            )
        self._running[child.name] = (child, process)

    def wait_ready(self, name: str, stop: threading.Event | None = None) -> None:
        """Returns early when the event is set. Raises ChildError, also for another child: they depend on each other."""
        child, _ = self._running[name]
        stop = stop or threading.Event()
        deadline = time.monotonic() + child.ready_seconds
        while child.ready is not None and not child.ready() and not stop.wait(POLL_SECONDS):
            self.check()
            if time.monotonic() > deadline:
                raise ChildError(f"{name} is not ready after {child.ready_seconds:g} s; {self._last_lines(name)}")
        self.check()

    def check(self) -> None:
        """Raises ChildError if a child is gone."""
        for name, (_, process) in self._running.items():
            if process.poll() is not None:
                raise ChildError(f"{name} ended with {_status(process.returncode)}; {self._last_lines(name)}")

    def wait(self, stop: threading.Event) -> None:
        """Until the event is set; raises ChildError if a child ends before."""
        while not stop.wait(POLL_SECONDS):
            self.check()

    def stop(self, seconds: float = STOP_SECONDS) -> None:
        """Asks every process group to end, all at once, and forces those that stay."""
        processes = [process for _, process in reversed(self._running.values())]
        for process in processes:
            _signal_group(process, signal.SIGTERM)
        deadline = time.monotonic() + seconds
        for process in processes:
            with suppress(subprocess.TimeoutExpired):
                process.wait(max(0, deadline - time.monotonic()))
            _signal_group(process, signal.SIGKILL)  # also what the child itself left in its group
            process.wait()
        self._running.clear()

    def _last_lines(self, name: str, count: int = 20) -> str:
        log = self.log(name)
        lines = log.read_text(errors="replace").splitlines()[-count:]
        return f"{log} ends with:\n" + "\n".join(f"  {line}" for line in lines)


@contextmanager
def stop_signals() -> Iterator[threading.Event]:
    """An event that Ctrl-C, SIGTERM and a closed terminal set. The second Ctrl-C interrupts as usual."""
    event = threading.Event()

    def request(number: int, _: object) -> None:
        if event.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        event.set()

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, request) for number in numbers]
    try:
        yield event
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def _signal_group(process: subprocess.Popen[bytes], number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, number)


def _status(code: int) -> str:
    return f"status {code}" if code >= 0 else signal.Signals(-code).name


def end_with_parent() -> None:
    """So that even a killed supervisor leaves nothing running. Linux only; elsewhere its exit paths must do."""
    if _libc is not None:
        _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
