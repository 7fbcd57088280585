"""The product's own worker and engine, started as `manage.py up` starts them."""

import os
import signal
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

import psutil
from config.env import Environment
from config.processes import engine, workers
from config.supervisor import Child, Supervisor
from django.conf import settings

from tests.databases import database_url

VLLM_FLAGS = ("--", "--max-model-len", "2048")


def until(condition: Callable[[], bool], what: str, seconds: float = 60) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds:g} s: {what}")
        time.sleep(0.1)


@dataclass
class Processes:
    """`env` is theirs but for `home`, which is the tests' own; their logs and beat's schedule lie in `env.home`."""

    env: Environment
    home: Path
    database: str
    _stack: ExitStack = field(default_factory=ExitStack)

    def __post_init__(self) -> None:
        self._worker = self._stack.enter_context(Supervisor(self.env.home / "logs"))
        self._engine = self._stack.enter_context(Supervisor(self.env.home / "logs"))

    def __enter__(self) -> "Processes":
        self.start_worker()
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def start_worker(self) -> None:
        for child in workers(self.env, self._worker):
            self._start(self._worker, child)

    def start_engine(self) -> None:
        """Nothing to do when it runs."""
        if not self._engine_runs():
            self._start(self._engine, engine(self.env, *VLLM_FLAGS))

    def stop_engine(self) -> None:
        self._engine.stop()

    def pause_engine(self) -> None:
        """It takes connections and answers none."""
        os.kill(self._engine.pid("engine"), signal.SIGSTOP)

    def resume_engine(self) -> None:
        os.kill(self._engine.pid("engine"), signal.SIGCONT)

    def kill_worker(self) -> None:
        """All at once and by force."""
        parent = psutil.Process(self._worker.pid("worker"))
        for process in [parent, *parent.children(recursive=True)]:
            process.kill()
        self._worker.stop()

    def kill_local_engine(self) -> None:
        """By force, under the encoder's feet."""
        self.local_engine().kill()

    def local_engine(self) -> psutil.Process:
        """vLLM's core."""
        children = psutil.Process(self._worker.pid("encoder")).children()
        (core,) = (child for child in children if "EngineCore" in " ".join(child.cmdline()))
        return core

    def kill_encoder(self) -> None:
        """The worker's own process alone, by force."""
        psutil.Process(self._worker.pid("encoder")).kill()

    def kill_task_processes(self) -> None:
        """Those that the worker runs its tasks in; it starts others."""
        for process in psutil.Process(self._worker.pid("worker")).children():
            process.kill()

    def _engine_runs(self) -> bool:
        try:
            return bool(psutil.pid_exists(self._engine.pid("engine")))
        except KeyError:
            return False

    def _start(self, supervisor: Supervisor, child: Child) -> None:
        supervisor.start(replace(child, environment={**child.environment, **self._variables()}))
        supervisor.wait_ready(child.name)

    def _variables(self) -> dict[str, str]:
        return {
            "DATABASE_URL": database_url(self.database),
            "REDIS_URL": settings.REDIS_URL,
            "INFERSCALE_HOME": str(self.home),
            "INFERSCALE_STORE": str(self.env.store),
            "INFERSCALE_ENGINE_PORT": str(self.env.engine_port),
            "INFERSCALE_ENCODER": self.env.encoder,
            "INFERSCALE_ENCODER_FLAGS": self.env.encoder_flags,
            "VLLM_CPU_KVCACHE_SPACE": "1",
        }
