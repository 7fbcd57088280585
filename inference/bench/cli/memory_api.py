"""`manage.py bench memory-api`: the memory API as an application sees it."""

from argparse import ArgumentParser
from collections.abc import Mapping
from typing import Any
from uuid import uuid4

from django.conf import settings
from rich.console import Console
from rich.progress import Progress
from tenants.services import tenant_create

from inference.bench.cli.alone import alone
from inference.bench.cli.arguments import add_json, at_least
from inference.bench.cli.output import results_for
from inference.bench.memory_api import MemoryApi, fill, measure_calls, memory_api_rows
from inference.bench.report.memory_api import memory_api_grid
from inference.bench.results import Row
from inference.bench.subject import run_key
from memory.models import resolve_embedding_model

HELP = "search, add, and add until found over HTTP; starts web by itself, needs nothing else running"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--facts", type=at_least(1), default=10_000, help="facts of the user (10000)")
    parser.add_argument("--rounds", type=at_least(2), default=200, help="calls of each sort (200)")
    parser.add_argument("--top-k", type=at_least(1), default=10, help="memories a search returns (10)")
    add_json(parser)


def run(options: Mapping[str, Any], console: Console) -> None:
    """The tenant and all of its facts are deleted at the end."""
    results, env = results_for(options["json"]), settings.ENV
    facts, rounds = options["facts"], options["rounds"]
    shape = resolve_embedding_model(env.embedding_model, env.home).name
    common: Row = {"shape": shape, "k": options["top_k"], "facts": facts}
    rows: list[Row] = []
    with alone() as here:
        url = here.start_web({"INFERSCALE_REQUESTS_PER_MINUTE": "0"})
        tenant = tenant_create(name=f"Memory API bench {uuid4().hex[:8]}")
        try:
            with Progress(console=console, transient=True) as bar:
                api = MemoryApi.at(url, run_key(tenant, "bench"), top_k=options["top_k"])
                storing = bar.add_task("storing facts", total=facts)
                for stored in fill(api, facts):
                    bar.update(storing, completed=stored)
                    if here.stop.is_set():
                        return
                measuring = bar.add_task("measuring", total=rounds)
                for taken in measure_calls(api, facts=facts, rounds=rounds, seed=tenant.pk):
                    bar.advance(measuring)
                    rows = memory_api_rows(taken, common)
                    if here.stop.is_set():
                        return
        finally:
            tenant.delete()
    if results:
        results.put(rows)
    console.print(memory_api_grid(rows).rich("Calls of the memory API, ms"))
