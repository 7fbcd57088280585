"""`manage.py bench path`: where the milliseconds to the first token go."""

from argparse import ArgumentParser
from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import uuid4

from rich.console import Console
from rich.progress import Progress

from inference.bench.chat import MODES, ChatClient, Mode
from inference.bench.cli.arguments import add_json, at_least
from inference.bench.cli.output import results_for
from inference.bench.cli.subject import add_strategy, bench_subject, encode_facts
from inference.bench.engine_latency import TIERS
from inference.bench.facts import bench_facts
from inference.bench.latency import ask_anew
from inference.bench.path import Ask, EngineTimes, measure_path, path_rows
from inference.bench.report.path import path_grid
from inference.bench.results import Row

HELP = "a request's way from the client's socket to its first token, step by step, on a running stack used by none else"
USER = "path"
SPARE_FACTS = 10


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--k", type=at_least(1), default=50, help="facts a request (50)")
    parser.add_argument("--rounds", type=at_least(2), default=30, help="requests of each mode (30)")
    parser.add_argument("--tier", choices=TIERS, default="host", help="where the engine holds blobs, for the record")
    add_strategy(parser)
    add_json(parser)


def run(options: Mapping[str, Any], console: Console) -> None:
    results, k = results_for(options["json"]), options["k"]
    subject = bench_subject(options["strategy"])
    encode_facts(subject, {USER: list(bench_facts(k + SPARE_FACTS))}, console)
    client = ChatClient(subject.url, subject.api_key, model=subject.model, user=USER)
    common: Row = {"shape": subject.model, "tier": options["tier"], "strategy": subject.tenant.strategy}
    ask: dict[Mode, Ask] = {mode: partial(ask_anew, client, mode, k=k) for mode in MODES}
    rows: list[Row] = []
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("measuring", total=options["rounds"])
        rounds = measure_path(
            ask,
            EngineTimes(subject.url),
            rounds=options["rounds"],
            seed=uuid4(),
            progress=lambda done: bar.update(task, completed=done),
        )
        for taken in rounds:
            rows = path_rows(taken, common, k=k)
            if results:
                results.put(rows)
    console.print(path_grid(rows).rich("ms from the client's socket to the first token, medians"))
