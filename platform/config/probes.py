"""Ready or not: questions about a process from outside. `python -m config.probes URL` is a container's health check."""

import argparse
import socket
import sys
import time
import urllib.request
from collections.abc import Callable
from pathlib import Path


def answers(url: str) -> Callable[[], bool]:
    """A readiness check: the address answers with a status below 400."""

    def check() -> bool:
        try:
            with urllib.request.urlopen(url, timeout=2) as response:
                return bool(response.status < 400)
        except OSError:
            return False

    return check


def has_checked_itself(url: str) -> Callable[[], bool]:
    """A readiness check for the engine: it answers, and its golden check, which allows injection, is over."""

    def check() -> bool:
        try:
            with urllib.request.urlopen(url, timeout=2) as response:
                return response.headers.get("x-inferscale-golden") in ("passed", "failed")
        except OSError:
            return False

    return check


def written(path: Path, seconds: float) -> Callable[[], bool]:
    """A readiness check for a process that writes a file at least so often."""

    def check() -> bool:
        files = list(path.parent.glob(f"{path.name}*"))  # a dbm's one file or several
        return any(time.time() - file.stat().st_mtime < seconds for file in files)

    return check


def port_is_free(host: str, port: int) -> bool:
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def log_has(path: Path, text: str) -> Callable[[], bool]:
    """A readiness check for a process that listens nowhere: a line of its log says so."""
    return lambda: path.exists() and text in path.read_text(errors="replace")


def main(arguments: list[str]) -> int:
    """The status of a health check: 0 or 1."""
    parser = argparse.ArgumentParser(prog="config.probes")
    parser.add_argument("url", nargs="?", help="answers with a status below 400")
    parser.add_argument("--checked", metavar="URL", help="an engine's /health, whose golden check is over")
    parser.add_argument("--written", nargs=2, metavar=("FILE", "SECONDS"), help="written since so many seconds")
    asked = parser.parse_args(arguments)
    checks = [answers(asked.url)] if asked.url else []
    checks += [has_checked_itself(asked.checked)] if asked.checked else []
    checks += [written(Path(asked.written[0]), float(asked.written[1]))] if asked.written else []
    if not checks:
        parser.error("nothing to check")
    return 0 if all(check() for check in checks) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
