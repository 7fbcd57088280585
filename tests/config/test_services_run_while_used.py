import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from config.services import Services

from tests.config.conftest import Installation


@contextmanager
def running(installation: Installation) -> "Iterator[subprocess.Popen[str]]":
    process = installation.popen("run")
    try:
        assert process.stdout is not None
        assert "ready" in process.stdout.readline()
        yield process
    finally:
        process.kill()
        process.communicate()


def test_run_stays_until_a_signal_and_leaves_nothing(installation: Installation) -> None:
    with running(installation) as process:
        assert all(status.ready for status in installation.status().values())
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 0
    assert not any(status.running for status in installation.status().values())


def test_the_last_user_stops_them(installation: Installation) -> None:
    with running(installation) as process, Services(installation.env).hold():
        process.send_signal(signal.SIGINT)
        assert process.wait(60) == 0
        assert all(status.ready for status in installation.status().values())
    assert not any(status.running for status in installation.status().values())


def test_a_user_that_was_killed_counts_no_more(installation: Installation) -> None:
    with running(installation) as process:
        process.kill()
        process.wait(60)
    with Services(installation.env).hold():
        assert all(status.ready for status in installation.status().values())
    assert not any(status.running for status in installation.status().values())


def test_started_servers_outlive_those_who_use_them(installation: Installation) -> None:
    installation.start()
    with Services(installation.env).hold():
        pass
    assert all(status.ready for status in installation.status().values())
    installation.stop()
