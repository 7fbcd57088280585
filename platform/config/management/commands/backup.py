"""`manage.py backup FILE`."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from config.backup import BackupError, backup


class Command(BaseCommand):
    help = "Writes the whole database into a file, while everything runs"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            size = backup(file)
        except BackupError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(f"{file}: {size} bytes")
