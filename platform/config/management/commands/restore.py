"""`manage.py restore FILE`."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from facts.enqueue import AUDIT, enqueue

from config.backup import BackupError, restore


class Command(BaseCommand):
    help = "Puts the database back as `backup` found it, then brings it to this version; all else must be stopped"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument("--replace", action="store_true", help="give up what the database holds now")

    def handle(self, *args: Any, file: Path, replace: bool, **options: Any) -> None:
        if not file.is_file():
            raise CommandError(f"there is no {file}")
        try:
            restore(file, replace=replace)
        except BackupError as error:
            raise CommandError(str(error)) from error
        call_command("migrate", verbosity=0, stdout=self.stdout)
        enqueue(AUDIT)  # the first thing a worker does: beat would have it done minutes later
        self.stdout.write(f"restored from {file}; facts whose KV is gone are sent as text until they are encoded again")
