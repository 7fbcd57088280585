"""Starts, stops and shows the embedded servers."""

import signal
import threading
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from config.services import ServiceError, Services

NOT_RUNNING = 3  # as init scripts have it


class Command(BaseCommand):
    help = "Embedded PostgreSQL and Redis-protocol server of the data folder"
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        actions = "start and stay up; stop; show (exit status 3 unless all are ready); run until a signal comes"
        parser.add_argument("action", choices=["start", "stop", "status", "run"], help=actions)

    def handle(self, *args: Any, action: str, **options: Any) -> None:
        services = Services(settings.ENV)
        try:
            getattr(self, f"_{action}")(services)
        except ServiceError as error:
            raise CommandError(str(error)) from error

    def _start(self, services: Services) -> None:
        services.start()
        self._show(services)

    def _stop(self, services: Services) -> None:
        services.stop()
        self._show(services)

    def _status(self, services: Services) -> None:
        self._show(services)
        if not all(status.ready for status in services.status()):
            raise SystemExit(NOT_RUNNING)

    def _run(self, services: Services) -> None:
        stop = threading.Event()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, lambda *_: stop.set())
        with services.hold():
            self._show(services)
            self.stdout.flush()
            stop.wait()

    def _show(self, services: Services) -> None:
        embedded = {status.name: str(status) for status in services.status()}
        for name, where in (("postgres", "DATABASE_URL"), ("redis", "REDIS_URL")):
            self.stdout.write(embedded.get(name, f"{name:<12}not ours, see {where}"))
