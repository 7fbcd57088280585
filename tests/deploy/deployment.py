"""The whole product as docker-compose.yml starts it, with two engines, as processes of this machine."""

import json
import signal
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import psutil
import redis
from config.supervisor import Supervisor
from django.conf import settings
from django.core.management import call_command
from django.db import connection
from pytest_django import DjangoDbBlocker

from memory.models import served_name
from tests.databases import database_url
from tests.deploy.composed import Service, compose
from tests.workers.running.processes import until

ENGINES = ("engine1", "engine2")
WEB = ("web1", "web2")
WORKERS = ("worker-encode", "worker-tiering", "worker-extract", "worker-deliver", "worker-default")
STARTED = (*WEB, *WORKERS, "beat", *ENGINES, "proxy")
READY_SECONDS = 900.0


@contextmanager
def deployed(folder: Path, blocker: DjangoDbBlocker) -> "Iterator[Deployment]":
    """What its processes store is gone afterwards."""
    database = str(connection.settings_dict["NAME"])
    assert database.startswith("test_"), "it is emptied at the end"
    with blocker.unblock(), redis.Redis.from_url(settings.REDIS_URL) as broker:
        broker.flushdb()  # tasks that an earlier run left
        with Deployment(folder, database) as deployment:
            yield deployment
        broker.flushdb()
        call_command("flush", interactive=False, verbosity=0)


@dataclass
class Deployment:
    """Each service has its address for itself, so that all keep the ports of their containers."""

    folder: Path
    database: str
    _stack: ExitStack = field(default_factory=ExitStack)
    _supervisors: dict[str, Supervisor] = field(default_factory=dict)

    def __enter__(self) -> "Deployment":
        secrets = self.folder / "secrets"
        secrets.mkdir()
        for name in compose()["secrets"]:
            (secrets / name).write_text(settings.ENV.secret())
        try:
            for name in STARTED:
                self.start(name)
            for name in STARTED:
                self.wait_ready(name)
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def url(self) -> str:
        """The one public origin."""
        return f"http://{self._addresses['proxy']}:8000"

    @property
    def model(self) -> str:
        return served_name(settings.ENV.model, settings.ENV.home)

    def service(self, name: str) -> Service:
        return Service(name, self._addresses[name], self._addresses, self._variables, self.folder / name)

    def start(self, name: str) -> None:
        supervisor = self._stack.enter_context(Supervisor(self.folder / "logs"))
        self._supervisors[name] = supervisor
        supervisor.start(self.service(name).child(READY_SECONDS))

    def wait_ready(self, name: str) -> None:
        """By its own health check."""
        self._supervisors[name].wait_ready(name)

    def end(self, name: str) -> None:
        """As a container is stopped: a signal to its first process, and time to end by itself."""
        described = self.service(name).described
        seconds = float(described.get("stop_grace_period", "10s").removesuffix("s"))
        process = psutil.Process(self._supervisors[name].pid(name))
        process.send_signal(signal.Signals[described.get("stop_signal", "SIGTERM")])
        until(lambda: process.status() == psutil.STATUS_ZOMBIE, f"{name} ends by itself", seconds)
        self._supervisors[name].stop()

    def kill(self, name: str) -> None:
        """By force, with all that it started."""
        parent = psutil.Process(self._supervisors[name].pid(name))
        for process in [parent, *parent.children(recursive=True)]:
            process.kill()
        self._supervisors[name].stop()

    def page(self, name: str) -> str:
        """Its /metrics."""
        port = 8080 if name in WEB else 8000 if name in ENGINES else 9100
        return httpx.get(f"http://{self._addresses[name]}:{port}/metrics", timeout=60).raise_for_status().text

    def told(self, name: str) -> list[dict[str, Any]]:
        """The JSON objects of its log, this and the run before."""
        logs = [self.folder / "logs" / f"{name}.log{end}" for end in (".1", "")]
        lines = [line for log in logs if log.exists() for line in log.read_text(errors="replace").splitlines()]
        return [json.loads(line[line.index("{") :]) for line in lines if line.endswith("}") and '{"time"' in line]

    def server_of(self, request_id: str) -> set[str]:
        """The engines that answered a client's request of this id. They say so after they have."""
        until(lambda: bool(self._servers(request_id)), f"an engine tells of {request_id}", 20)
        return self._servers(request_id)

    def _servers(self, request_id: str) -> set[str]:
        return {
            engine
            for engine in ENGINES
            if any(line.get("request_id") == request_id and "ttft_seconds" in line for line in self.told(engine))
        }

    @property
    def _addresses(self) -> Mapping[str, str]:
        return {name: f"127.0.7.{number}" for number, name in enumerate(STARTED, 1)}

    @property
    def _variables(self) -> Mapping[str, str]:
        return {
            "DATABASE_URL": database_url(self.database),
            "REDIS_URL": settings.REDIS_URL,
            "INFERSCALE_SECRETS": str(self.folder / "secrets"),
            "INFERSCALE_HOME": str(settings.ENV.home),
            "INFERSCALE_STORE": str(self.folder / "blobs"),
            "INFERSCALE_ENGINE_URLS": ",".join(f"http://{self._addresses[name]}:8000" for name in ENGINES),
            "WEB_URLS": ",".join(f"http://{self._addresses[name]}:8080" for name in WEB),
            "INFERSCALE_HOST_KV_BYTES": str(256 << 20),
            "VLLM_CPU_KVCACHE_SPACE": "1",
            "ENGINE_FLAGS": "--max-model-len 2048",
            "WORKER_ENCODE_CONCURRENCY": "1",
        }
