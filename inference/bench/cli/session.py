"""`manage.py bench session`: TTFT turn by turn."""

from argparse import ArgumentParser
from collections.abc import Mapping
from functools import partial
from typing import Any
from uuid import uuid4

from rich.console import Console
from rich.progress import Progress

from inference.bench.chat import ChatClient
from inference.bench.cli.arguments import add_json, at_least
from inference.bench.cli.output import results_for
from inference.bench.cli.subject import STALL_SECONDS, Subject, add_strategy, bench_subject, encode_facts
from inference.bench.engine_latency import TIERS
from inference.bench.facts import bench_facts
from inference.bench.report.session import session_grid
from inference.bench.results import Row
from inference.bench.session import MEMORIES, MODES, SessionPlan, Taken, run_session, session_rows
from inference.bench.subject import add_texts, wait_encoded

HELP = "sessions of several turns on a running stack, memory the same or changing: TTFT by turn"
POLL_SECONDS = 0.05


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--turns", type=at_least(1), default=10, help="of each session (10)")
    parser.add_argument("--sessions", type=at_least(2), default=5, help="each of a new user (5)")
    parser.add_argument("--facts", type=at_least(1), default=60, help="facts of each user at the start (60)")
    parser.add_argument("--k", type=at_least(1), default=50, help="facts a request (50)")
    parser.add_argument("--tokens", type=at_least(1), default=30, help="tokens of each answer (30)")
    parser.add_argument("--tier", choices=TIERS, default="host", help="where the engine holds blobs, for the record")
    add_strategy(parser)
    add_json(parser)


def run(options: Mapping[str, Any], console: Console) -> None:
    results, name = results_for(options["json"]), uuid4().hex[:8]
    subject = bench_subject(options["strategy"])
    users = {(memory, n): f"session-{name}-{memory}-{n}" for n in range(options["sessions"]) for memory in MEMORIES}
    encode_facts(subject, {user: list(bench_facts(options["facts"])) for user in users.values()}, console)
    common: Row = {"shape": subject.model, "tier": options["tier"], "strategy": subject.tenant.strategy}
    taken: Taken = {}
    rows: list[Row] = []
    with Progress(console=console, transient=True) as bar:
        task = bar.add_task("sessions", total=len(users) * options["turns"] * len(MODES))
        for (memory, _), user in users.items():
            plan = SessionPlan(options["turns"], options["k"], options["tokens"], seed=user)
            client = ChatClient(subject.url, subject.api_key, model=subject.model, user=user)
            client.http.get("/health")  # opens the connection
            for mode, turn, answer in run_session(
                client, memory, plan, partial(_learn, subject, user, options["facts"])
            ):
                taken.setdefault((memory, mode, turn), []).append(answer)
                bar.advance(task)
            rows = session_rows(taken, plan, common)
            if results:
                results.put(rows)
    console.print(session_grid(rows).rich("TTFT by turn, prefix caching on"))


def _learn(subject: Subject, user: str, facts: int, turn: int) -> None:
    """One more fact, encoded before the user goes on: people read an answer before they ask again."""
    add_texts(subject.tenant, user, list(bench_facts(1, start=facts + turn)))
    wait_encoded(
        subject.tenant,
        user,
        progress=lambda ready, total: None,
        alive=lambda: None,
        stall_seconds=STALL_SECONDS,
        poll_seconds=POLL_SECONDS,
    )
