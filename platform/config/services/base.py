"""What every embedded server can do."""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from config.services.identity import Identity


class ServiceError(RuntimeError):
    """A server cannot be run as asked; the message says what to change."""


@dataclass(frozen=True)
class Status:
    name: str
    running: bool
    ready: bool
    pid: int | None
    address: str

    def __str__(self) -> str:
        state = "ready" if self.ready else "starting" if self.running else "stopped"
        return f"{self.name:<12}{state:<10}{f'pid {self.pid}' if self.pid else '-':<14}{self.address}"


@dataclass(frozen=True)
class Place:
    """Where a server keeps its data and its socket, and the user it runs as."""

    folder: Path
    socket_folder: Path
    identity: Identity

    @property
    def log(self) -> Path:
        return self.folder / "server.log"

    def last_log_lines(self, count: int = 15) -> str:
        try:
            return "\n".join(self.log.read_text(errors="replace").splitlines()[-count:])
        except OSError:
            return "(no log)"


class Server(ABC):
    """Callers hold the services lock around start and stop; both may be called in any state."""

    name: str

    def __init__(self, place: Place) -> None:
        self.place = place

    @property
    @abstractmethod
    def socket(self) -> Path: ...

    @abstractmethod
    def pid(self) -> int | None:
        """The live server of this data folder; a stale pid file or a reused pid is None."""

    @abstractmethod
    def ready(self) -> bool:
        """Whether it answers a client."""

    @abstractmethod
    def start(self) -> None:
        """Returns once it answers; raises ServiceError with its last log lines."""

    @abstractmethod
    def stop(self) -> None: ...

    def status(self) -> Status:
        pid = self.pid()
        return Status(self.name, pid is not None, pid is not None and self.ready(), pid, str(self.socket))

    def wait_until_ready(self, seconds: float) -> None:
        if not wait_for(self.ready, seconds):
            problem = f"{self.name} does not answer after {seconds:g} s"
            raise ServiceError(f"{problem}; {self.place.log} ends with:\n{self.place.last_log_lines()}")


def wait_for(condition: Callable[[], bool], seconds: float) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
