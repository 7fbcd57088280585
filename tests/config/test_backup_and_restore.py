"""The database in a file and back: with a database of its own, through the commands."""

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest
from config.env import ROOT
from django.conf import settings

from tests.databases import database_url

STORE = """
from tenants.services import tenant_create
from tenants.scope import tenant_scope
from facts.inputs import *
from tests.factories import add_facts
from facts.services import fact_delete, fact_update
tenant = tenant_create(name="Home")
with tenant_scope(tenant):
    first, second, third = add_facts(tenant, "Alice lives in Lisbon.", "Alice has a parrot.", "Älice – 🦜")
    fact_update(fact=first, text="Alice lives in Porto.")
    fact_delete(fact=second)
"""
TABLES = ("facts_fact", "facts_facthistory", "facts_owner", "tenants_tenant", "django_migrations")


@dataclass(frozen=True)
class Installation:
    url: str
    home: Path

    def manage(self, *words: str, given: str = "") -> "subprocess.CompletedProcess[str]":
        environment = {**os.environ, "DATABASE_URL": self.url, "INFERSCALE_HOME": str(self.home)}
        environment["PYTHONPATH"] = f"{ROOT}:{ROOT / 'platform'}"
        command = [sys.executable, str(ROOT / "manage.py"), *words]
        return subprocess.run(command, env=environment, input=given, capture_output=True, text=True, cwd=ROOT)

    def succeed(self, *words: str, given: str = "") -> str:
        result = self.manage(*words, given=given)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def rows(self) -> dict[str, list[tuple[object, ...]]]:
        with psycopg.connect(self.url) as connection:
            return {table: connection.execute(f"SELECT * FROM {table} ORDER BY 1").fetchall() for table in TABLES}


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    name = f"backup_{uuid4().hex[:12]}"
    with psycopg.connect(settings.DATABASE_URL, autocommit=True) as server:
        server.execute(f"CREATE DATABASE {name}")
        yield Installation(database_url(name), settings.ENV.home)
        server.execute(f"DROP DATABASE {name} WITH (FORCE)")


@pytest.fixture(scope="module")
def installation(empty: Installation) -> Installation:
    empty.succeed("migrate", "--verbosity", "0")
    empty.succeed("shell", "--verbosity", "0", given=STORE)
    return empty


def test_everything_is_back(installation: Installation, tmp_path: Path) -> None:
    before = installation.rows()
    assert len(before["facts_fact"]) == 3
    assert before["facts_facthistory"]
    file = tmp_path / "new" / "today.dump"
    assert str(file.parent) in installation.succeed("backup", str(file))
    assert file.stat().st_mode & 0o77 == 0
    assert [path.name for path in file.parent.iterdir()] == ["today.dump"]
    refused = installation.manage("restore", str(file))
    assert (refused.returncode, "--replace" in refused.stderr) == (1, True)
    with psycopg.connect(installation.url) as connection:
        connection.execute("TRUNCATE facts_fact CASCADE")
        connection.execute("CREATE TABLE left_over (id int)")
    installation.succeed("restore", "--replace", str(file))
    assert installation.rows() == before
    with psycopg.connect(installation.url) as connection, pytest.raises(psycopg.errors.UndefinedTable):
        connection.execute("SELECT * FROM left_over")


def test_nothing_is_restored_while_others_are_connected(installation: Installation, tmp_path: Path) -> None:
    installation.succeed("backup", str(tmp_path / "a.dump"))
    before = installation.rows()
    with psycopg.connect(installation.url):
        refused = installation.manage("restore", "--replace", str(tmp_path / "a.dump"))
    assert "1 others are connected" in refused.stderr
    assert installation.rows() == before


def test_what_is_no_backup_changes_nothing(installation: Installation, tmp_path: Path) -> None:
    before = installation.rows()
    (tmp_path / "no.dump").write_bytes(b"not a backup")
    for file in ("no.dump", "none.dump"):
        assert installation.manage("restore", "--replace", str(tmp_path / file)).returncode == 1
    assert installation.rows() == before


def test_a_folder_that_cannot_be_written_leaves_no_file(installation: Installation, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    refused = installation.manage("backup", str(tmp_path / "file" / "a.dump"))
    assert (refused.returncode, "cannot be written" in refused.stderr) == (1, True)
