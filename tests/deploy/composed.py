"""The services of docker-compose.yml as processes of this machine: their own commands, environment and health checks.

Each has a loopback address of its own in place of a container, so that all keep their ports.
"""

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml
from config.env import ROOT
from config.supervisor import Child

FILE = ROOT / "docker-compose.yml"
SECONDS_BETWEEN_CHECKS = 2.0
VARIABLE = re.compile(r"\$\{(\w+)(?::-([^}]*))?\}")


@cache
def compose() -> dict[str, Any]:
    """As YAML, nothing put in for variables."""
    return dict(yaml.safe_load(FILE.read_text()))


def filled(text: str, variables: Mapping[str, str]) -> str:
    """With the variables, or their defaults, put in as docker compose does."""
    return VARIABLE.sub(lambda match: variables.get(match[1]) or match[2] or "", text)


@dataclass(frozen=True)
class Service:
    """`addresses`: loopback addresses by service name; `name` may have a number behind it, as replicas have."""

    name: str
    address: str
    addresses: Mapping[str, str]
    variables: Mapping[str, str]
    folder: Path

    @property
    def described(self) -> dict[str, Any]:
        return dict(compose()["services"][self.name.rstrip("0123456789")])

    @property
    def command(self) -> tuple[str, ...]:
        words = shlex.split(self._here(str(self.described["command"])))
        return tuple(self._word(word) for word in words)

    @property
    def environment(self) -> dict[str, str]:
        given = {name: value for name, value in self.described["environment"].items() if value is not None}
        return {name: self._here(str(value)) for name, value in given.items()} | {
            name: value for name, value in self.variables.items() if name in self.described["environment"]
        }

    def child(self, seconds: float) -> Child:
        self.folder.mkdir(parents=True, exist_ok=True)
        own = {"INFERSCALE_HOME": self.variables["INFERSCALE_HOME"]}
        own["INFERSCALE_STORE"] = self.variables["INFERSCALE_STORE"]
        return Child(self.name, self.command, now_and_then(self.is_healthy), seconds, {**own, **self.environment})

    def is_healthy(self) -> bool:
        kind, *words = self.described["healthcheck"]["test"]
        assert kind == "CMD"
        command = [self._word(self._here(word)) for word in words]
        environment = {**os.environ, "PYTHONPATH": str(ROOT / "platform")}
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True).returncode == 0

    def _here(self, text: str) -> str:
        """The container's paths and addresses first: those of this machine, in variables, may look like them."""
        text = re.sub(r"(^|=| )/tmp\b", rf"\1{self.folder}", text)
        text = text.replace("0.0.0.0", self.address).replace("127.0.0.1", self.address)
        for name, address in self.addresses.items():
            text = text.replace(f"//{name}:", f"//{address}:")
        text = text.replace("/run/secrets/", f"{self.variables['INFERSCALE_SECRETS']}/")
        return filled(text, self.variables)

    def _word(self, word: str) -> str:
        word = word.replace("/opt/proxy/", f"{ROOT / 'platform' / 'deploy' / 'proxy'}/")
        return {"python3": sys.executable, "manage.py": str(ROOT / "manage.py")}.get(word, word)


def now_and_then(check: Callable[[], bool]) -> Callable[[], bool]:
    """False in between: each health check is a Python of its own, which would slow down what it waits for."""
    due = 0.0

    def checked() -> bool:
        nonlocal due
        if time.monotonic() < due:
            return False
        healthy = check()
        due = time.monotonic() + SECONDS_BETWEEN_CHECKS
        return healthy

    return checked
