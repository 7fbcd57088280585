"""Finding and ending the processes of the servers."""

from pathlib import Path

import psutil


def read_pid(path: Path) -> int | None:
    """First line of a pid file; None when it is absent or half written."""
    try:
        return int(path.read_text().split("\n", 1)[0])
    except (OSError, ValueError):
        return None


def pid_is(pid: int | None, *words: str) -> bool:
    """Whether the process lives and has every word in its command line: pids are reused."""
    if pid is None:
        return False
    try:
        process = psutil.Process(pid)
        line = " ".join(process.cmdline())
        return process.status() != psutil.STATUS_ZOMBIE and all(word in line for word in words)
    except psutil.Error:
        return False


def end(pid: int, seconds: float) -> None:
    """Asks, then forces."""
    try:
        process = psutil.Process(pid)
        process.terminate()
        try:
            process.wait(seconds)
        except psutil.TimeoutExpired:
            process.kill()
            process.wait(seconds)
    except psutil.NoSuchProcess:
        pass
