"""`manage.py bench recall`: whether retrieval finds the evidence."""

import hashlib
from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from config.services import Services
from django.conf import settings
from django.core.management import call_command
from rich.console import Console
from rich.progress import Progress

from inference.bench.accuracy.locomo import read_conversations
from inference.bench.cli.arguments import add_json, add_k, at_least
from inference.bench.cli.output import results_for
from inference.bench.recall import recall_rows, search_all
from inference.bench.report.recall import recall_grid
from memory.models import resolve_embedding_model

HELP = "gold evidence among the facts found by vectors, by words and by both, on a LoCoMo file; needs the database"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--data", type=Path, required=True, help="LoCoMo's JSON, or that with .xz")
    add_k(parser, "5,10,20,50")
    parser.add_argument("--conversations", type=at_least(1), help="only the first so many (all)")
    add_json(parser)


def run(options: Mapping[str, Any], console: Console) -> None:
    conversations = read_conversations(options["data"])[: options["conversations"]]
    results = results_for(options["json"])
    env = settings.ENV
    with Services(env).hold(), Progress(console=console, transient=True) as bar:
        call_command("migrate", verbosity=0, skip_checks=False)
        task = bar.add_task("searching", total=sum(len(conversation.questions) for conversation in conversations))
        found = list(search_all(conversations, progress=lambda: bar.advance(task)))
    common = {
        "shape": resolve_embedding_model(env.embedding_model, env.home).name,
        "dataset": hashlib.sha256(options["data"].read_bytes()).hexdigest(),
    }
    rows = [common | row for row in recall_rows(found, options["k"])]
    if results:
        results.put(rows)
    console.print(recall_grid(rows).rich("Share of the gold evidence found (95% interval)"))
