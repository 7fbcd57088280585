"""What is measured with nothing else running: embedded servers, a web process, and what is stored for the run."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from threading import Event

from config.processes import web, web_url
from config.services import ServiceError, Services
from config.supervisor import ChildError, Supervisor, stop_signals
from django.conf import settings
from django.core.management import call_command

from inference.bench.errors import BenchError


@dataclass(frozen=True)
class Alone:
    """`stop` is set when somebody asks to end."""

    stop: Event
    supervisor: Supervisor

    def start_web(self, environment: Mapping[str, str] | None = None) -> str:
        """Its base URL, once it answers."""
        child = web(settings.ENV)
        self.supervisor.start(replace(child, environment={**child.environment, **(environment or {})}))
        self.supervisor.wait_ready(child.name, self.stop)
        return web_url(settings.ENV)


@contextmanager
def alone() -> Iterator[Alone]:
    """With the database brought to this version. Raises BenchError for servers and processes that do not come up."""
    env = settings.ENV
    try:
        with stop_signals() as stop, Services(env).hold(), Supervisor(env.home / "logs") as supervisor:
            call_command("migrate", verbosity=0, skip_checks=False)
            yield Alone(stop, supervisor)
    except (ChildError, ServiceError) as error:
        raise BenchError(str(error)) from error
