"""`manage.py bench latency`: TTFT as an application sees it."""

from argparse import ArgumentParser
from collections.abc import Mapping
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, get_args
from uuid import uuid4

from django.conf import settings
from rich.console import Console
from rich.progress import Progress

from inference.bench.chat import MODES, ChatClient, Mode
from inference.bench.cli.arguments import add_json, add_k, at_least, some_of
from inference.bench.cli.output import results_for
from inference.bench.cli.subject import Subject, add_strategy, bench_subject, encode_facts
from inference.bench.engine_latency import TIERS
from inference.bench.facts import bench_facts
from inference.bench.latency import MAX_TOKENS, Ask, ask_anew, latency_rows, measure_latency
from inference.bench.mem0_peer import Mem0Memory, ask_with_mem0
from inference.bench.report.latency import latency_table
from inference.bench.results import Row
from memory.models import resolve_embedding_model

HELP = "time to first token over HTTP, retrieval included, on a running stack (make up, or bench stack)"
USER = "latency"
SPARE_FACTS = 10


def add_arguments(parser: ArgumentParser) -> None:
    add_k(parser, "5,10,20,50")
    known = get_args(Mode)
    parser.add_argument(
        "--modes", type=some_of(known), default=list(MODES), help=f"some of {','.join(known)} (all but mem0)"
    )
    parser.add_argument("--rounds", type=at_least(2), default=15, help="requests of each mode at each k (15)")
    parser.add_argument("--tier", choices=TIERS, default="host", help="where the engine holds blobs, for the record")
    add_strategy(parser)
    add_json(parser)


def run(options: Mapping[str, Any], console: Console) -> None:
    results, ks = results_for(options["json"]), options["k"]
    subject = bench_subject(options["strategy"])
    facts = list(bench_facts(max(ks) + SPARE_FACTS))
    encode_facts(subject, {USER: facts}, console)
    common: Row = {"shape": subject.model, "tier": options["tier"], "strategy": subject.tenant.strategy}
    rows: list[Row] = []
    with ExitStack() as stack, Progress(console=console, transient=True) as bar:
        ask = _ask(subject, options["modes"], facts, stack)
        task = bar.add_task("measuring", total=len(ks) * len(ask) * options["rounds"])
        rounds = measure_latency(
            ask,
            ks=ks,
            rounds=options["rounds"],
            seed=uuid4(),
            progress=lambda done: bar.update(task, completed=done),
        )
        for taken in rounds:
            rows = latency_rows(taken, common)
            if results:
                results.put(rows)
    console.print(latency_table(rows))


def _ask(subject: Subject, modes: list[Mode], facts: list[str], stack: ExitStack) -> dict[Mode, Ask]:
    client = ChatClient(subject.url, subject.api_key, model=subject.model, user=USER)
    ask: dict[Mode, Ask] = {mode: partial(ask_anew, client, mode) for mode in modes if mode != "mem0"}
    if "mem0" in modes:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="bench-mem0-")))
        embedding_model = resolve_embedding_model(settings.ENV.embedding_model, settings.ENV.home)
        memory = Mem0Memory(folder, embedding_model, USER)
        memory.add(facts)
        ask["mem0"] = lambda question, k: ask_with_mem0(
            client, memory, question, k=k, max_tokens=MAX_TOKENS, ignore_eos=True
        )
    return ask
