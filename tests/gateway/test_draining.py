"""An engine that is told to end takes nothing new, lets what is under way end, and then goes."""

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from config.env import ROOT
from django.conf import settings as django_settings

from inference.draining import IN_PROGRESS, requests_in_progress
from inference.gateway.middleware import Gateway
from inference.gateway.runtime import Runtime
from tests.gateway.echo import Client, echo

RUN = """
import sys
from pathlib import Path
from inference.draining import requests_in_progress, run_and_drain
page, file, seconds, *command = sys.argv[1:]
sys.exit(run_and_drain(command, file=Path(file), environment={"DRAIN": file},
                       in_progress=lambda: requests_in_progress(page), seconds=float(seconds)))
"""
ENGINE = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(7))
print(os.environ["DRAIN"], flush=True)
time.sleep(120)
"""


class Page:
    """An engine's /metrics with so many requests in progress."""

    def __init__(self) -> None:
        self.requests = 0
        page = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                data = f'# TYPE {IN_PROGRESS} gauge\n{IN_PROGRESS}{{pid="1"}} {page.requests}.0\n{IN_PROGRESS} 0.0\n'
                self.send_response(200)
                self.end_headers()
                self.wfile.write(data.encode())

            def log_message(self, format: str, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/metrics"


@pytest.fixture
def page() -> Iterator[Page]:
    page = Page()
    yield page
    page.server.shutdown()
    page.server.server_close()


def start(page: Page, file: Path, seconds: float, *, engine: str = ENGINE) -> "subprocess.Popen[str]":
    """Once the engine runs."""
    command = [sys.executable, "-c", RUN, page.url, str(file), str(seconds), sys.executable, "-c", engine]
    environment = {"PYTHONPATH": f"{ROOT}:{ROOT / 'platform'}"}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline().strip() == str(file)
    return process


def test_it_ends_once_nothing_is_under_way(page: Page, tmp_path: Path) -> None:
    file, page.requests = tmp_path / "draining", 2
    with start(page, file, 60) as process:
        assert not file.exists()
        process.send_signal(signal.SIGTERM)
        while not file.exists():
            time.sleep(0.02)
        time.sleep(1.5)
        assert process.poll() is None
        page.requests = 0
        assert process.wait(30) == 7
    assert not file.exists()


def test_it_does_not_wait_for_ever(page: Page, tmp_path: Path) -> None:
    page.requests = 1
    with start(page, tmp_path / "draining", 0.5) as process:
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 7


def test_an_engine_that_ends_by_itself_is_not_waited_for(page: Page, tmp_path: Path) -> None:
    engine = "import os; print(os.environ['DRAIN'], flush=True); os._exit(3)"
    with start(page, tmp_path / "draining", 60, engine=engine) as process:
        assert process.wait(30) == 3


def test_a_page_without_the_number_is_no_page_of_an_engine(page: Page) -> None:
    assert requests_in_progress(page.url) == 0
    with pytest.raises((ValueError, OSError)):
        requests_in_progress(page.url.replace("/metrics", ":1/"))


@pytest.mark.django_db
def test_the_gateway_refuses_what_is_new_and_answers_probes(runtime: Runtime, settings: Any, tmp_path: Path) -> None:
    file = tmp_path / "draining"
    settings.ENV = django_settings.ENV.model_copy(update={"drain_file": file})
    gateway = Gateway(echo)
    gateway.service._runtime = runtime

    def ask(method: str, path: str) -> int:
        return asyncio.run(Client(gateway).send(method, path)).status

    assert ask("POST", "/v1/chat/completions") == 401
    file.touch()
    assert ask("POST", "/v1/chat/completions") == 503
    assert ask("POST", "/v1/completions") == 503
    assert (ask("GET", "/health"), ask("GET", "/metrics")) == (200, 200)
