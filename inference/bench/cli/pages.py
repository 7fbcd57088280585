"""`manage.py bench pages`: the dashboard with much to show."""

from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from datetime import timedelta
from threading import Event
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.contrib.auth.models import User
from django.db import connection
from django.utils import timezone
from facts.embedding import vector_dim
from rich.console import Console
from rich.progress import Progress
from tenants.models import Tenant
from tenants.services import tenant_create
from usage.rollup import roll_up

from inference.bench.cli.alone import alone
from inference.bench.cli.arguments import add_json, at_least
from inference.bench.cli.output import results_for
from inference.bench.pages import measure_pages, page_rows, pages_of, staff_client
from inference.bench.pages_data import DAYS, FACTS_A_USER, filled, store_facts, store_records
from inference.bench.report.pages import pages_grid
from inference.bench.results import Row

HELP = "every page of the dashboard over HTTP, with many facts and request records; starts web by itself"


def add_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--facts", type=at_least(1), default=100_000, help="facts of the tenant (100000)")
    parser.add_argument("--records", type=at_least(1), default=1_000_000, help="its request records (1000000)")
    parser.add_argument("--rounds", type=at_least(2), default=20, help="how often each page is asked for (20)")
    add_json(parser)


def run(options: Mapping[str, Any], console: Console) -> None:
    """Tenant and account are deleted at the end."""
    results = results_for(options["json"])
    rows: list[Row] = []
    with alone() as here:
        name = f"Pages bench {uuid4().hex[:8]}"
        user, tenant = User.objects.create_user(name, is_staff=True), tenant_create(name=name)
        try:
            if not _fill(tenant, options, here.stop, console):
                return
            http, pages = staff_client(here.start_web(), user), pages_of(filled(tenant))
            common: Row = {"shape": "dashboard", "facts": options["facts"], "records": options["records"]}
            with Progress(console=console, transient=True) as bar:
                measuring = bar.add_task("asking", total=options["rounds"])
                for taken in measure_pages(http, pages, rounds=options["rounds"]):
                    bar.advance(measuring)
                    rows = page_rows(taken, common)
                    if here.stop.is_set():
                        return
        finally:
            tenant.delete()
            user.delete()
    if results:
        results.put(rows)
    console.print(pages_grid(rows).rich("Pages of the dashboard, ms"))


def _fill(tenant: Tenant, options: Mapping[str, Any], stop: Event, console: Console) -> bool:
    """Whether nobody asked to stop meanwhile."""
    model = settings.ENV.embedding_model
    users = max(1, options["facts"] // FACTS_A_USER)
    facts = store_facts(tenant, options["facts"], dimensions=vector_dim(model), model=model)
    records = store_records(tenant, options["records"], users=users)
    with Progress(console=console, transient=True) as bar:
        steps: tuple[tuple[str, int, Iterable[int]], ...] = (
            ("storing facts", options["facts"], facts),
            ("storing request records", options["records"], records),
        )
        for what, total, done in steps:
            storing = bar.add_task(what, total=total)
            for stored in done:
                bar.update(storing, completed=stored)
                if stop.is_set():
                    return False
        bar.add_task("rolling up", total=None)
        now = timezone.now()
        roll_up(now=now, since=now - timedelta(days=DAYS + 1))
    with connection.cursor() as cursor:
        cursor.execute("VACUUM (ANALYZE)")  # as autovacuum does in time
    return True
