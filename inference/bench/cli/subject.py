"""Users of the running stack whose facts are encoded, for the kinds that measure over HTTP."""

from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings
from rich.console import Console
from rich.progress import Progress
from tenants.models import Tenant

from inference.bench.errors import BenchError
from inference.bench.subject import add_missing, bench_tenant, run_key, wait_encoded
from memory.models import served_name

STALL_SECONDS = 120


@dataclass(frozen=True)
class Subject:
    """Whose requests are sent where."""

    tenant: Tenant
    api_key: str
    model: str
    url: str


def add_strategy(parser: ArgumentParser) -> None:
    parser.add_argument("--strategy", help="how facts are encoded, such as window(16) (new tenants' own)")


def bench_subject(strategy: str | None) -> Subject:
    env = settings.ENV
    model = served_name(env.model, env.home)
    try:
        tenant = bench_tenant(model, strategy)
    except ValueError as error:
        raise BenchError(f"--strategy: {error}") from error
    return Subject(tenant, run_key(tenant, "bench"), model, env.engine_base_url)


def encode_facts(subject: Subject, texts: Mapping[str, Sequence[str]], console: Console) -> None:
    """Store what is missing, wait until all of it is encoded. Raises EncodingStuckError."""
    with Progress(console=console, transient=True) as bar:
        storing = bar.add_task("storing facts, by user", total=len(texts))
        add_missing(subject.tenant, texts, lambda done: bar.update(storing, completed=done))
        encoding = bar.add_task("encoding facts", total=None)
        wait_encoded(
            subject.tenant,
            list(texts),
            progress=lambda ready, total: bar.update(encoding, completed=ready, total=total),
            alive=lambda: None,
            stall_seconds=STALL_SECONDS,
        )
