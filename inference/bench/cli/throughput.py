"""`manage.py bench throughput`: many users at a time."""

from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any
from uuid import uuid4

from rich.console import Console
from rich.status import Status

from inference.bench.chat import MODES
from inference.bench.cli.arguments import MAX_K, add_json, at_least, counts, numbers, some_of
from inference.bench.cli.output import results_for
from inference.bench.cli.subject import Subject, add_strategy, bench_subject, encode_facts
from inference.bench.engine_latency import TIERS
from inference.bench.facts import bench_facts
from inference.bench.load import LoadPlan
from inference.bench.report.throughput import load_name, throughput_grid
from inference.bench.results import Row
from inference.bench.throughput import Timing, measure_throughput, throughput_row

HELP = "requests a second and p50/p95/p99 over HTTP, closed and open loop, on a running stack"
MAX_USERS = 1000


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--users", type=counts(MAX_USERS), default="100", help="closed loops of so many users (100)")
    parser.add_argument("--rates", type=numbers(0.01, 10_000), default=[], help="open loops of so many requests/s too")
    parser.add_argument("--facts", type=at_least(1), default=60, help="facts of each user (60)")
    parser.add_argument("--k", type=at_least(1), default=50, help=f"facts a request (50, at most {MAX_K})")
    parser.add_argument("--tokens", type=at_least(1), default=50, help="tokens of each answer (50)")
    parser.add_argument("--seconds", type=at_least(1), default=30, help="measured time of each mode and load (30)")
    parser.add_argument("--warm-up", type=at_least(0), default=4, help="seconds before each measured stretch (4)")
    parser.add_argument("--rounds", type=at_least(1), default=2, help="stretches a mode is measured in, by turns (2)")
    parser.add_argument("--modes", type=some_of(MODES), default=["inject", "prompt"], help="inject,prompt,none")
    parser.add_argument("--order", choices=("random", "relevance"), default="random", help="of facts in the prompt")
    parser.add_argument("--processes", type=at_least(1), default=4, help="client processes (4)")
    parser.add_argument("--tier", choices=TIERS, default="host", help="where the engine holds blobs, for the record")
    add_strategy(parser)
    add_json(parser)


def run(options: Mapping[str, Any], console: Console) -> None:
    results = results_for(options["json"])
    subject = bench_subject(options["strategy"])
    names = load_users(max(options["users"]))
    encode_facts(subject, facts_of(names, options["facts"]), console)
    timing = Timing(options["seconds"], options["warm_up"], options["rounds"])
    common: Row = {"shape": subject.model, "tier": options["tier"], "strategy": subject.tenant.strategy}
    shown: list[Row] = []
    for plan in _plans(subject, names, options):
        rows: list[Row] = []
        with console.status("") as status:
            rounds = measure_throughput(
                plan,
                options["modes"],
                timing,
                processes=options["processes"],
                progress=partial(_tell, status, plan),
            )
            for measured in rounds:
                rows = [throughput_row(plan, mode, each, common) for mode, each in measured.items()]
                if results:
                    results.put(rows)
        shown += rows
    console.print(throughput_grid(shown).rich("Load over HTTP, retrieval included"))
    for row in shown:
        if row["failed"]:
            console.print(f"{load_name(row)}, {row['mode']}: {row['first_error']}", markup=False)


def _tell(status: Status, plan: LoadPlan, text: str) -> None:
    status.update(f"{load_name({'users': len(plan.users), 'rate': plan.rate})}: {text}")


def load_users(count: int) -> list[str]:
    return [f"load-{number:04}" for number in range(count)]


def facts_of(users: list[str], count: int) -> dict[str, list[str]]:
    """Each user has facts of their own."""
    return {user: list(bench_facts(count, start=number * count)) for number, user in enumerate(users)}


def _plans(subject: Subject, names: list[str], options: Mapping[str, Any]) -> Iterator[LoadPlan]:
    loads = [(users, None) for users in options["users"]] + [(len(names), rate) for rate in options["rates"]]
    for users, rate in loads:
        yield LoadPlan(
            url=subject.url,
            api_key=subject.api_key,
            model=subject.model,
            users=tuple(names[:users]),
            mode="inject",
            top_k=options["k"],
            max_tokens=options["tokens"],
            rate=rate,
            order=options["order"],
            seed=str(uuid4()),
        )
