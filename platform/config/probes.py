"""Ready or not: questions about a process from outside."""

import socket
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
