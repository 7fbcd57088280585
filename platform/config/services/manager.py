"""All embedded servers together: one lock, one life."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from config.env import Environment, variable
from config.services.base import Place, Server, ServiceError, Status
from config.services.folders import foreign_owner, make_private, make_reachable
from config.services.identity import OURSELVES, Identity, service_identity
from config.services.locks import Usage, exclusive
from config.services.postgres import PostgresServer
from config.services.valkey import ValkeyServer


class Services:
    """Servers for which the environment names no other. Safe to use from any number of processes at once.

    `start` leaves them running until `stop`; `hold` only for as long as some process holds them.
    """

    def __init__(self, env: Environment) -> None:
        self.home = env.home
        self.socket_folder = env.socket_folder
        chosen = {
            "postgres": PostgresServer if env.embeds_postgres else None,
            "redis": ValkeyServer if env.embeds_redis else None,
        }
        self._kinds: dict[str, type[Server]] = {name: kind for name, kind in chosen.items() if kind}
        self._usage = Usage(self.home / "services.users")

    @property
    def _kept(self) -> Path:
        return self.home / "services.kept"

    def start(self) -> list[Status]:
        with self._alone():
            self._start_all()
            self._kept.touch()
        return self.status()

    def stop(self) -> None:
        if self.home.exists():
            with self._alone():
                self._stop_all()

    def status(self) -> list[Status]:
        return [server.status() for server in self._servers(prepare=False)]

    @contextmanager
    def hold(self) -> Iterator[None]:
        try:
            with self._alone():
                self._usage.join()
                self._start_all()
            yield
        finally:
            with self._alone():
                if self._usage.leave() and not self._kept.exists():
                    self._stop_all()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        try:
            self.home.mkdir(parents=True, exist_ok=True)
            with exclusive(self.home / "services.lock"):
                yield
        except OSError as error:
            raise ServiceError(f"{variable('home')}: {error}") from error

    def _servers(self, *, prepare: bool) -> list[Server]:
        data = self.home / "postgres"
        identity = service_identity(data) if prepare or data.exists() else OURSELVES
        places = {name: Place(self.home.resolve() / name, self.socket_folder, identity) for name in self._kinds}
        if prepare:
            for place in places.values():
                self._prepare(place)
        return [kind(places[name]) for name, kind in self._kinds.items()]

    def _prepare(self, place: Place) -> None:
        make_private(place.folder, place.identity)
        if place.folder.stat().st_uid != place.identity.uid:
            owner = Identity(place.folder.stat().st_uid, place.folder.stat().st_gid).name
            raise ServiceError(
                f"{place.folder} belongs to {owner}: run as that user or as root, or choose another {variable('home')}"
            )
        if not place.identity.is_ourselves:
            make_reachable(place.folder, place.identity)
        stranger = foreign_owner(self.socket_folder, (0, place.identity.uid))
        if stranger:
            raise ServiceError(f"{stranger}, so its sockets cannot be trusted: remove it")
        make_private(self.socket_folder, place.identity)

    def _start_all(self) -> None:
        servers = self._servers(prepare=True)
        if not any(server.pid() for server in servers):
            self._kept.unlink(missing_ok=True)  # left by a machine that went down
        ours = [server for server in servers if not server.pid()]
        try:
            for server in servers:
                server.start()
        except BaseException:  # one alone is of no use, and outlives its data folder if nobody stops it
            for server in reversed(ours):
                server.stop()
            raise

    def _stop_all(self) -> None:
        for server in reversed(self._servers(prepare=False)):
            server.stop()
        self._kept.unlink(missing_ok=True)
        with suppress(OSError):  # never made, or something else lies there
            self.socket_folder.rmdir()
