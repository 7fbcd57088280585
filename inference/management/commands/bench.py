"""`manage.py bench`: what InferScale claims, measured on a running engine."""

import json
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser
from rich.console import Console
from rich.progress import Progress
from rich.table import Table

from inference.bench.chat import MODES, ChatClient
from inference.bench.facts import QUESTIONS, bench_facts
from inference.bench.latency import LatencyRow, measure_latency, ratios, report
from inference.bench.stats import Spread
from inference.bench.subject import EncodingStuckError, add_texts, bench_tenant, run_key, wait_encoded
from memory.models import served_name

TENANT, USER = "bench", "bench"


class Command(BaseCommand):
    help = "Measure latency on a running stack (make up): modes none, prompt and inject, interleaved."

    def add_arguments(self, parser: CommandParser) -> None:
        kinds = parser.add_subparsers(dest="kind", required=True)
        latency = kinds.add_parser("latency", help="time to first token over HTTP, retrieval included")
        latency.add_argument("--k", default="5,10,20,50", help="facts a request, comma-separated")
        latency.add_argument("--rounds", type=int, default=15, help="requests of each mode at each k")
        latency.add_argument("--json", type=Path, help="write raw samples to this file")

    def handle(self, *args: Any, **options: Any) -> None:
        ks = _ks(options["k"])
        if options["rounds"] < 2:
            raise CommandError("--rounds must be at least 2, or there is no spread")
        console = Console(file=self.stdout)  # type: ignore[arg-type]
        tenant = bench_tenant(TENANT)
        name = served_name(settings.ENV.model, settings.ENV.home)
        client = ChatClient(settings.ENV.engine_base_url, run_key(tenant, "bench"), model=name, user=USER)
        with Progress(console=console, transient=True) as bar:
            task = bar.add_task("encoding", total=None)
            add_texts(tenant, USER, list(bench_facts(max(ks) + 10)))
            try:
                wait_encoded(
                    tenant,
                    USER,
                    progress=lambda ready, total: bar.update(task, completed=ready, total=total),
                    alive=lambda: None,
                    stall_seconds=120,
                )
            except EncodingStuckError as error:
                raise CommandError(str(error)) from error
            task = bar.add_task("measuring", total=len(ks) * len(MODES) * options["rounds"])
            rows = measure_latency(
                client,
                QUESTIONS,
                ks=ks,
                rounds=options["rounds"],
                progress=lambda done: bar.update(task, completed=done),
            )
        console.print(_table(rows, ks))
        if path := options["json"]:
            path.write_text(json.dumps(report(rows, model=name), indent=1) + "\n")
            console.print(f"samples in {path}")


def _table(rows: list[LatencyRow], ks: list[int]) -> Table:
    table = Table(title="TTFT in ms, median (middle half), over HTTP with retrieval")
    for title in ("facts", *MODES, "prompt tokens", "prefilled with inject", "prompt / inject", "prompt / none"):
        table.add_column(title, justify="right")
    for k in ks:
        of = {row.mode: row for row in rows if row.k == k}
        ratio = ratios(rows, k)
        table.add_row(
            str(of["inject"].facts),
            *(str(Spread.of(of[mode].samples_ms)) for mode in MODES),
            f"{of['prompt'].prompt_tokens:.0f}",
            f"{of['inject'].prefilled_tokens:.0f}",
            f"{ratio['prompt/inject']:.2f}",
            f"{ratio['prompt/none']:.2f}",
        )
    return table


def _ks(text: str) -> list[int]:
    try:
        ks = [int(part) for part in text.split(",")]
    except ValueError:
        ks = []
    if not ks or not all(1 <= k <= 1000 for k in ks):
        raise CommandError(f"--k takes numbers from 1 to 1000, such as 5,50, not {text!r}")
    return ks
