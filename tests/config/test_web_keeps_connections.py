"""The web process keeps its database connections from request to request, though each runs in a thread of its own."""

import os
import subprocess
from collections.abc import Iterator

import httpx
import pytest
from config.env import ROOT
from config.processes import web
from django.conf import settings
from django.db import connection

from tests.workers.running.processes import until
from tests.workers.troubled_engine import free_port

NAME = "web that keeps its connections"


@pytest.fixture
def address() -> Iterator[str]:
    child, port = web(settings.ENV), free_port()
    command = [word if word != str(settings.ENV.web_port) else str(port) for word in child.command]
    environment = {**os.environ, **child.environment, "PGAPPNAME": NAME}
    process = subprocess.Popen([*command, "--app-dir", "platform"], cwd=ROOT, env=environment)
    url = f"http://127.0.0.1:{port}"
    try:
        until(lambda: _answers(url), "the web process answers", seconds=120)
        yield url
    finally:
        process.terminate()
        process.wait(30)


def test_requests_share_a_connection(address: str, db: None) -> None:
    for _ in range(5):
        httpx.get(f"{address}/health/ready", timeout=30)
    with connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM pg_stat_activity WHERE application_name = %s", [NAME])
        before = cursor.fetchone()
        cursor.execute("SELECT min(backend_start) FROM pg_stat_activity WHERE application_name = %s", [NAME])
        oldest = cursor.fetchone()
        for _ in range(5):
            httpx.get(f"{address}/health/ready", timeout=30)
        cursor.execute("SELECT min(backend_start) FROM pg_stat_activity WHERE application_name = %s", [NAME])
        assert cursor.fetchone() == oldest
    assert before[0] >= 1


def _answers(url: str) -> bool:
    try:
        return httpx.get(f"{url}/health/live", timeout=5).is_success
    except httpx.HTTPError:
        return False
