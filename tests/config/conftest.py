"""A data folder with embedded servers of its own, apart from those of the test run."""

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from config.env import ROOT, Environment
from config.services import Services, Status


@dataclass(frozen=True)
class Installation:
    """One data folder; `services` is what a person types, `start` and `stop` save the start of a process."""

    home: Path

    @property
    def env(self) -> Environment:
        return Environment(home=self.home, database_url="", redis_url="")

    @property
    def variables(self) -> dict[str, str]:
        kept = {name: value for name, value in os.environ.items() if name not in ("DATABASE_URL", "REDIS_URL")}
        return {**kept, "INFERSCALE_HOME": str(self.home)}

    def popen(self, action: str) -> "subprocess.Popen[str]":
        command = [sys.executable, str(ROOT / "manage.py"), "services", action]
        return subprocess.Popen(command, env=self.variables, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def services(self, action: str) -> tuple[int, str]:
        process = self.popen(action)
        output, errors = process.communicate(timeout=180)
        return process.returncode, output + errors

    def start(self) -> None:
        Services(self.env).start()

    def stop(self) -> None:
        Services(self.env).stop()

    def status(self) -> dict[str, Status]:
        return {status.name: status for status in Services(self.env).status()}

    def pid(self, name: str) -> int:
        pid = self.status()[name].pid
        assert pid is not None
        return pid

    def sql(self, statement: str) -> list[tuple[object, ...]]:
        where = {"host": str(self.env.socket_folder), "port": 5432, "user": "postgres", "dbname": "inferscale"}
        with psycopg.connect(**where, autocommit=True) as connection:  # type: ignore[arg-type]
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []


@pytest.fixture(scope="module")
def installation() -> Iterator[Installation]:
    home = Path(tempfile.mkdtemp(prefix="inferscale-test-"))
    installed = Installation(home)
    yield installed
    installed.stop()
    shutil.rmtree(home)
