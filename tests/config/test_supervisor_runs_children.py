import os
import signal
import socket
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import psutil
import pytest
from config.env import ROOT
from config.probes import log_has, port_is_free
from config.services.base import wait_for
from config.supervisor import Child, ChildError, Supervisor


def python(name: str, code: str, **options: object) -> Child:
    return Child(name, (sys.executable, "-c", textwrap.dedent(code)), **options)  # type: ignore[arg-type]


def test_output_goes_to_a_log_and_the_one_before_is_kept(tmp_path: Path) -> None:
    for word in ("first", "second"):
        with Supervisor(tmp_path) as supervisor:
            child = python("child", f"print('{word}'); import time; time.sleep(60)")
            supervisor.start(Child("child", child.command, log_has(supervisor.log("child"), word), 30))
            supervisor.wait_ready("child")
    assert (tmp_path / "child.log").read_text() == "second\n"
    assert (tmp_path / "child.log.1").read_text() == "first\n"


def test_a_child_that_dies_is_named_with_its_last_lines(tmp_path: Path) -> None:
    with Supervisor(tmp_path) as supervisor:
        supervisor.start(python("steady", "import time; time.sleep(60)"))
        supervisor.start(python("broken", "print('no such model'); raise SystemExit(3)"))
        with pytest.raises(ChildError, match=r"(?s)broken ended with status 3.*no such model"):
            supervisor.wait(threading.Event())


def test_waiting_for_one_notices_the_death_of_another(tmp_path: Path) -> None:
    with Supervisor(tmp_path) as supervisor:
        supervisor.start(python("slow", "import time; time.sleep(60)", ready=lambda: False))
        supervisor.start(python("broken", "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"))
        with pytest.raises(ChildError, match="broken ended with SIGKILL"):
            supervisor.wait_ready("slow")


def test_a_child_that_is_never_ready_is_given_up(tmp_path: Path) -> None:
    with Supervisor(tmp_path) as supervisor:
        supervisor.start(python("slow", "import time; time.sleep(60)", ready=lambda: False, ready_seconds=0.5))
        with pytest.raises(ChildError, match=r"slow is not ready after 0.5 s"):
            supervisor.wait_ready("slow")


def test_leaving_stops_children_and_their_children(tmp_path: Path) -> None:
    parent = """
        import signal, subprocess, sys, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        grandchild = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
        print(grandchild.pid, "started", flush=True)
        time.sleep(600)
    """
    with Supervisor(tmp_path) as supervisor:
        child = python("stubborn", parent)
        supervisor.start(Child("stubborn", child.command, log_has(supervisor.log("stubborn"), "started"), 30))
        supervisor.wait_ready("stubborn")
        pids = [supervisor.pid("stubborn"), int(supervisor.log("stubborn").read_text().split()[0])]
        supervisor.stop(seconds=1)
    assert wait_for(lambda: not any(_lives(pid) for pid in pids), 5)


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's help is Linux's")
def test_a_killed_supervisor_leaves_no_child(tmp_path: Path) -> None:
    code = f"""
        import sys, threading
        from pathlib import Path
        from config.supervisor import Child, Supervisor
        supervisor = Supervisor(Path({str(tmp_path)!r}))
        supervisor.start(Child("child", (sys.executable, "-c", "import time; time.sleep(600)")))
        print(supervisor.pid("child"), flush=True)
        supervisor.wait(threading.Event())
    """
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "platform")}
    command = [sys.executable, "-c", textwrap.dedent(code)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        child = int(process.stdout.readline())
        time.sleep(0.2)
        process.send_signal(signal.SIGKILL)
    assert wait_for(lambda: not _lives(child), 10)


def test_a_port_in_use_is_seen() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        assert not port_is_free("127.0.0.1", port)
    assert port_is_free("127.0.0.1", port)


def _lives(pid: int) -> bool:
    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return False
