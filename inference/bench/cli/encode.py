"""`manage.py bench encode`: bulk import beside users who chat."""

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any
from uuid import uuid4

import torch
from django.conf import settings
from rich.console import Console

from inference.bench.cli.arguments import add_json, at_least
from inference.bench.cli.output import results_for
from inference.bench.cli.subject import STALL_SECONDS, Subject, add_strategy, bench_subject, encode_facts
from inference.bench.cli.throughput import facts_of, load_users
from inference.bench.encode import Importer, encode_alone, encode_under_load
from inference.bench.facts import bench_facts
from inference.bench.load import LoadPlan
from inference.bench.metrics import computed_prompt_tokens
from inference.bench.report.encode import encode_grid
from inference.bench.results import Row
from inference.bench.subject import add_texts, blob_tokens, wait_encoded

HELP = "facts encoded a second on a running stack, and the TTFT of users who chat meanwhile"
FACTS_A_USER = 50
POLL_SECONDS = 0.1


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--facts", type=at_least(1), default=1000, help="to encode, each of both times (1000)")
    parser.add_argument("--users", type=at_least(1), default=20, help="who chat meanwhile (20)")
    parser.add_argument("--user-facts", type=at_least(1), default=60, help="facts of each of those (60)")
    parser.add_argument("--k", type=at_least(1), default=50, help="facts a request (50)")
    parser.add_argument("--tokens", type=at_least(1), default=50, help="tokens of each answer (50)")
    parser.add_argument("--quiet", type=at_least(1), default=10, help="seconds before and after (10)")
    parser.add_argument("--processes", type=at_least(1), default=2, help="client processes (2)")
    add_strategy(parser)
    add_json(parser)


def run(options: Mapping[str, Any], console: Console) -> None:
    torch.set_num_threads(2)  # storing embeds the facts in this process, and the engine shares its cores
    results, name = results_for(options["json"]), uuid4().hex[:8]
    subject = bench_subject(options["strategy"])
    users = load_users(options["users"])
    encode_facts(subject, facts_of(users, options["user_facts"]), console)
    common: Row = {
        "shape": subject.model,
        "strategy": subject.tenant.strategy,
        "encoder": settings.ENV.encoder,
        "transport": "http",
    }
    importer = _importer(subject)
    plan = LoadPlan(
        url=subject.url,
        api_key=subject.api_key,
        model=subject.model,
        users=tuple(users),
        mode="inject",
        top_k=options["k"],
        max_tokens=options["tokens"],
        seed=name,
    )
    with console.status("encoding with nobody else there"):
        alone = encode_alone(importer, new_users(f"import-{name}-a", options["facts"]), common)
    if results:
        results.put([alone])
    with console.status(f"encoding while {options['users']} users chat"):
        busy = encode_under_load(
            importer,
            new_users(f"import-{name}-b", options["facts"]),
            plan,
            common,
            processes=options["processes"],
            quiet_seconds=options["quiet"],
        )
    if results:
        results.put([busy])
    console.print(encode_grid([alone, busy]).rich("Encoding"))


def new_users(name: str, facts: int) -> dict[str, list[str]]:
    """Facts of users who had none."""
    starts = range(0, facts, FACTS_A_USER)
    return {f"{name}-{at}": list(bench_facts(min(FACTS_A_USER, facts - at), start=at)) for at in starts}


def _importer(subject: Subject) -> Importer:
    tenant = subject.tenant

    def store(texts: Mapping[str, Sequence[str]]) -> None:
        for user, of_user in texts.items():
            add_texts(tenant, user, of_user)

    def wait(users: Sequence[str]) -> None:
        wait_encoded(
            tenant,
            users,
            progress=lambda ready, total: None,
            alive=lambda: None,
            stall_seconds=STALL_SECONDS,
            poll_seconds=POLL_SECONDS,
        )

    def computed() -> float | None:
        return computed_prompt_tokens(subject.url) if settings.ENV.encoder == "engine" else None

    return Importer(store, wait, partial(blob_tokens, tenant), computed)
