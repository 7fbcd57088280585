"""An engine that ends without failing anybody: it takes no new requests, ends those under way, and only then goes."""

import logging
import os
import signal
import subprocess
import threading
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from config.supervisor import end_with_parent

IN_PROGRESS = "inferscale_gateway_requests_in_progress"
POLL_SECONDS = 0.25
QUIET_POLLS = 3  # without a request: one may just be on its way in
END_SECONDS = 60.0

logger = logging.getLogger(__name__)


def requests_in_progress(url: str) -> float:
    """As the engine's /metrics at `url` has it. Raises OSError, ValueError when it does not say."""
    with urllib.request.urlopen(url, timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    values = [
        float(line.rsplit(" ", 1)[1]) for line in lines if line.startswith((f"{IN_PROGRESS} ", f"{IN_PROGRESS}{{"))
    ]
    if not values:
        raise ValueError(f"{url} has no {IN_PROGRESS}")
    return sum(values)


def run_and_drain(
    command: Sequence[str],
    *,
    file: Path,
    environment: Mapping[str, str],
    in_progress: Callable[[], float],
    seconds: float,
) -> int:
    """Runs the command until it ends or a signal asks for its end; its exit status.

    The signal makes `file`, while which exists the engine refuses what is new; once nothing is in progress any more, or
    after `seconds`, the command is told to end.
    """
    file.unlink(missing_ok=True)
    asked = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: asked.set())
    process = subprocess.Popen(command, env={**os.environ, **environment}, preexec_fn=end_with_parent)
    while process.poll() is None and not asked.wait(POLL_SECONDS):
        pass
    if process.poll() is None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
        _wait_until_idle(process, in_progress, seconds)
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(END_SECONDS)
        process.kill()
    file.unlink(missing_ok=True)
    return process.wait()


def _wait_until_idle(process: "subprocess.Popen[bytes]", in_progress: Callable[[], float], seconds: float) -> None:
    deadline, quiet = time.monotonic() + seconds, 0
    while process.poll() is None and quiet < QUIET_POLLS:
        if time.monotonic() > deadline:
            logger.warning("requests are still under way after %g s and are cut off", seconds)
            return
        try:
            quiet = quiet + 1 if in_progress() == 0 else 0
        except (OSError, ValueError) as error:
            logger.warning("the engine does not say what is under way: %s", error)
            quiet += 1
        time.sleep(POLL_SECONDS)
