"""Everything in one terminal."""

from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from tenants.setup import setup_code, setup_is_open

from config import processes
from config.services import ServiceError, Services
from config.supervisor import ChildError, Supervisor, stop_signals


class Command(BaseCommand):
    help = "Runs web, worker and engine, with the embedded servers where no URL names others, until Ctrl-C"
    requires_system_checks = ()  # the migration does them, once the database is up

    def handle(self, *args: Any, **options: Any) -> None:
        env = settings.ENV
        try:
            with stop_signals() as stop, Services(env).hold():
                call_command("migrate", verbosity=0, stdout=self.stdout, skip_checks=False)
                with Supervisor(env.home / "logs") as supervisor:
                    for name in processes.start_all(env, supervisor, stop):
                        self.stdout.write(f"{name:<8} ready, log {supervisor.log(name)}")
                        self.stdout.flush()
                    if stop.is_set():
                        return
                    self.stdout.write(f"web {processes.web_url(env)}, engine {env.engine_base_url}; Ctrl-C stops")
                    if setup_is_open():
                        link = f"{processes.web_url(env)}/welcome/?code={setup_code()}"
                        self.stdout.write(f"first account: {link}")
                    self.stdout.flush()
                    supervisor.wait(stop)
        except (ChildError, ServiceError) as error:
            raise CommandError(str(error)) from error
