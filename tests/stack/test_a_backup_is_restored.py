"""Everything is lost but a backup: it comes back with its history, and is injected again once it is encoded anew."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import redis
from config.env import ROOT
from django.conf import settings
from django.core.management import call_command
from django.db import connection, connections
from facts.models import Fact, FactHistory
from tenants.scope import tenant_scope

from memory.store import BlobStore
from tests.stack.app import App, stored
from tests.stack.stack import Stack
from tests.workers.running.processes import until

pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True)]
FACTS = ("Alice has a cat called Pepper.", "Alice lives in Lisbon.", "Alice is tired today.")
QUESTION = "What is the name of Alice's cat?"


def test_facts_history_and_injection_are_back(app: App, stack: Stack, store: BlobStore, tmp_path: Path) -> None:
    file = tmp_path / "backup"
    _, city, gone = app.remember("alice", *FACTS)
    app.change(city, "Alice lives in Porto.")
    app.forget(gone)
    app.until_encoded("alice")
    before, written = app.ask("alice", QUESTION), rows(app)
    assert len(written["fact"]) >= 2
    assert len(written["history"]) >= 4
    manage(stack, "backup", str(file))

    with stack.stopped():
        call_command("flush", interactive=False, verbosity=0)
        with redis.Redis.from_url(settings.REDIS_URL) as broker:
            broker.flushdb()
        shutil.rmtree(stack.env.store_path)
        assert rows(app) == {"fact": [], "history": []}
        disconnect()
        manage(stack, "restore", "--replace", str(file))
        assert rows(app) == written

    assert app.ask("alice", QUESTION).prompt_ids == before.prompt_ids
    until(lambda: app.keys("alice") == stored(store, app.keys("alice")), "the KV is made again", 300)
    app.until_encoded("alice")
    after = app.ask("alice", QUESTION)
    assert (after.mode, after.prompt_ids, after.text) == ("inject", before.prompt_ids, before.text)
    assert after.cached_tokens == after.injected == before.injected


def rows(app: App) -> dict[str, list[Any]]:
    with tenant_scope(app.tenant):
        facts, history = Fact.objects.order_by("pk"), FactHistory.objects.order_by("pk")
        return {"fact": [*facts.values()], "history": [*history.values()]}


def disconnect() -> None:
    """Nobody may be connected to a database that is replaced; threads of tests before still are."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            " WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
    connections.close_all()


def manage(stack: Stack, *words: str) -> None:
    command = [sys.executable, str(ROOT / "manage.py"), *words]
    subprocess.run(command, cwd=ROOT, env=stack.environment(), check=True, capture_output=True, timeout=120)
