"""All of the product at once, as `manage.py up` starts it."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from config.processes import engine, web, web_url
from config.supervisor import Supervisor
from django.conf import settings as django_settings
from django.core.management import call_command
from django.db import connection
from pytest_django import DjangoDbBlocker

from memory.models import served_name
from tests.workers.running.processes import VLLM_FLAGS, Processes, until
from tests.workers.troubled_engine import free_port

TOOL_FLAGS = ("--enable-auto-tool-choice", "--tool-call-parser", "hermes")


@contextmanager
def running_stack(folder: Path, blocker: DjangoDbBlocker, **settings: Any) -> "Iterator[Stack]":
    """`settings` are fields of the environment. What its processes store is gone afterwards."""
    update = {"store": folder / "blobs", "engine_port": free_port(), "engine_url": "", "home": folder}
    env = django_settings.ENV.model_copy(update={**update, "web_port": free_port(), **settings})
    database = str(connection.settings_dict["NAME"])
    assert database.startswith("test_"), "it is emptied at the end"
    with blocker.unblock():
        with Stack(env, home=django_settings.ENV.home, database=database) as stack:
            yield stack
        call_command("flush", interactive=False, verbosity=0)


@dataclass
class Stack(Processes):
    """Worker, web and engine on the test database, with a blob store of their own."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._web = self._stack.enter_context(Supervisor(self.env.home / "logs"))

    def __enter__(self) -> "Stack":
        try:
            self.start()
        except BaseException:
            self._stack.close()
            raise
        return self

    def start(self) -> None:
        self._start(self._web, web(self.env))
        self.start_worker()
        self.start_engine()

    @contextmanager
    def stopped(self) -> Iterator[None]:
        """Nothing of it runs meanwhile."""
        for supervisor in (self._engine, self._worker, self._web):
            supervisor.stop()
        try:
            yield
        finally:
            self.start()

    def environment(self) -> dict[str, str]:
        """Of a command beside its processes."""
        return {**os.environ, **self._variables(), "PYTHONPATH": os.pathsep.join(sys.path)}

    @property
    def model(self) -> str:
        return served_name(self.env.model, self.home)

    @property
    def web_url(self) -> str:
        return web_url(self.env)

    def start_engine(self) -> None:
        """Returns once injection is allowed."""
        if not self._engine_runs():
            self._start(self._engine, engine(self.env, *VLLM_FLAGS, *TOOL_FLAGS))
        until(lambda: self.golden() != "pending", "the golden check ends", 120)

    def golden(self) -> str:
        return httpx.get(f"{self.env.engine_base_url}/health", timeout=60).headers["x-inferscale-golden"]

    def metric(self, name: str) -> float:
        """Summed over its labels."""
        lines = httpx.get(f"{self.env.engine_base_url}/metrics", timeout=60).text.splitlines()
        return sum(float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith((f"{name}{{", f"{name} ")))

    @contextmanager
    def worker_paused(self) -> Iterator[None]:
        """What is stored meanwhile is not encoded."""
        os.killpg(self._worker.pid("worker"), signal.SIGSTOP)
        try:
            yield
        finally:
            os.killpg(self._worker.pid("worker"), signal.SIGCONT)

    def _variables(self) -> dict[str, str]:
        return {**super()._variables(), "INFERSCALE_ENGINE_URL": ""}
