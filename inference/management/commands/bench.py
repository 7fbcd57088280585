"""`manage.py bench KIND`: what InferScale claims, measured."""

from importlib import import_module
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from httpx import HTTPError
from rich.console import Console

from inference.bench.errors import BenchError

KINDS = (
    "engine", "latency", "path", "throughput", "encode", "session", "accuracy", "recall", "memory-api", "pages",
    "stack", "report",
)  # fmt: skip
FILE_WIDTH = 200


class Command(BaseCommand):
    help = "Measure latency, throughput and encoding; make tables and plots of the results."

    def add_arguments(self, parser: CommandParser) -> None:
        kinds = parser.add_subparsers(dest="kind", required=True)
        for name in KINDS:
            kind = _kind(name)
            kind.add_arguments(kinds.add_parser(name, help=kind.HELP, description=kind.HELP))

    def handle(self, *args: Any, **options: Any) -> None:
        width = None if self.stdout.isatty() else FILE_WIDTH
        console = Console(file=self.stdout, width=width)  # type: ignore[arg-type]
        try:
            _kind(options["kind"]).run(options, console)
        except (BenchError, OSError, HTTPError) as error:
            raise CommandError(str(error)) from error


def _kind(name: str) -> Any:
    return import_module(f"inference.bench.cli.{name.replace('-', '_')}")
