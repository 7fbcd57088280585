import os
import signal
import subprocess

from tests.config.conftest import Installation


def test_two_at_once_start_one_server(installation: Installation) -> None:
    starters = [installation.popen("start") for _ in range(3)]
    outputs = [process.communicate(timeout=180)[0] for process in starters]
    assert [process.returncode for process in starters] == [0, 0, 0], outputs
    assert len(set(outputs)) == 1


def test_killed_servers_come_back_with_their_data(installation: Installation) -> None:
    installation.start()
    installation.sql("CREATE TABLE survived AS SELECT 7 AS answer")
    for name in ("postgres", "redis"):
        os.kill(installation.pid(name), signal.SIGKILL)
    installation.start()
    assert installation.sql("SELECT answer FROM survived") == [(7,)]


def test_a_pid_that_now_is_another_programs_does_not_stop_postgres(installation: Installation) -> None:
    installation.start()
    owner = (installation.home / "postgres").stat()
    os.kill(installation.pid("postgres"), signal.SIGKILL)
    drop = {"user": owner.st_uid, "group": owner.st_gid} if os.geteuid() == 0 else {}
    with subprocess.Popen(["sleep", "120"], **drop) as other:  # type: ignore[call-overload]
        for file in (
            installation.home / "postgres/data/postmaster.pid",
            installation.env.socket_folder / ".s.PGSQL.5432.lock",
        ):
            file.write_text("\n".join([str(other.pid), *file.read_text().splitlines()[1:]]) + "\n")
        installation.start()
        other.kill()
    assert installation.sql("SELECT 1") == [(1,)]


def test_an_interrupted_initdb_is_begun_again(installation: Installation) -> None:
    installation.stop()
    data = installation.home / "postgres/data"
    data.rename(data.with_name("data.new"))
    (data.with_name("data.new") / "PG_VERSION").unlink()
    installation.start()
    assert installation.sql("SELECT current_database()") == [("inferscale",)]


def test_a_server_that_cannot_start_says_why(installation: Installation) -> None:
    installation.stop()
    settings = installation.home / "postgres/data/postgresql.conf"
    good = settings.read_text()
    settings.write_text(good + "\nshared_buffers = much\n")
    code, output = installation.services("start")
    settings.write_text(good)
    assert code == 1
    assert 'invalid value for parameter "shared_buffers"' in output


def test_when_one_cannot_start_none_that_was_started_for_it_stays(installation: Installation) -> None:
    installation.stop()
    log = installation.home / "redis/server.log"
    log.unlink(missing_ok=True)
    log.mkdir()
    code, output = installation.services("start")
    log.rmdir()
    assert code == 1, output
    assert not (installation.env.socket_folder / ".s.PGSQL.5432").exists()
