import stat
from pathlib import Path

import psutil
import pytest
import redis

from tests.config.conftest import Installation


def test_start_answers_and_keeps_data_over_a_stop(installation: Installation) -> None:
    code, output = installation.services("start")
    assert (code, output.count("ready")) == (0, 2), output
    installation.sql("CREATE TABLE kept AS SELECT 42 AS answer")

    assert installation.services("stop")[0] == 0
    assert installation.services("status")[0] == 3
    assert not installation.env.socket_folder.exists()

    assert installation.services("start")[0] == 0
    assert installation.sql("SELECT answer FROM kept") == [(42,)]


def test_starting_again_changes_nothing(installation: Installation) -> None:
    installation.start()
    before = installation.status()
    assert installation.services("start")[0] == 0
    assert installation.status() == before


def test_they_listen_on_sockets_only(installation: Installation) -> None:
    installation.start()
    for status in installation.status().values():
        assert status.pid is not None
        assert [c for c in psutil.Process(status.pid).net_connections("inet") if c.status == psutil.CONN_LISTEN] == []
        assert Path(status.address).is_socket()
    assert stat.S_IMODE(installation.env.socket_folder.stat().st_mode) == 0o700
    assert installation.sql("SHOW listen_addresses") == [("",)]


def test_nothing_runs_as_root(installation: Installation) -> None:
    installation.start()
    assert all(psutil.Process(status.pid).uids().effective != 0 for status in installation.status().values())


def test_the_broker_keeps_nothing_on_disk(installation: Installation) -> None:
    installation.start()
    with redis.Redis(unix_socket_path=installation.status()["redis"].address) as client:
        client.set("task", "lost with the server")
    installation.stop()
    assert sorted(path.name for path in (installation.home / "redis").iterdir()) == ["server.log"]


def test_stopping_what_is_stopped_is_fine(installation: Installation) -> None:
    installation.stop()
    installation.stop()
    assert not any(status.running for status in installation.status().values())


def test_environment_of_the_caller_does_not_reach_postgres(
    installation: Installation, monkeypatch: pytest.MonkeyPatch
) -> None:
    installation.stop()
    for name, value in (("PGPORT", "6000"), ("PGDATA", "/nonexistent"), ("LC_ALL", "xx_YY.UTF-8")):
        monkeypatch.setenv(name, value)
    assert installation.services("start")[0] == 0
    assert installation.sql("SHOW port") == [("5432",)]
