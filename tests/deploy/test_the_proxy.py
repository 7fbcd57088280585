"""nginx as it is deployed: an owner's chats go to one engine, another takes over, all else goes to the web process."""

import hashlib
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from uuid import uuid4

import httpx
import psutil
import pytest
from config.env import ROOT
from config.probes import answers
from config.supervisor import Child, Supervisor
from tenants.affinity import owner_affinity
from tenants.keys import new_key

from tests.deploy.conftest import HAS_NGINX
from tests.quiet_http import QuietHandler
from tests.workers.running.processes import until
from tests.workers.troubled_engine import free_port

pytestmark = pytest.mark.skipif(not HAS_NGINX, reason="needs Debian's nginx-light and libnginx-mod-http-js")
PROXY = ROOT / "platform" / "deploy" / "proxy"
CHAT = "/v1/chat/completions"
TENANT, OTHER = uuid4(), uuid4()


class Upstream:
    """Answers with its name and what it was asked; `status` in place of 200."""

    def __init__(self, name: str, port: int = 0) -> None:
        self.name, self.status, self.asked = name, 200, list[str]()
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()

    def _handler(self) -> type[QuietHandler]:
        upstream = self

        class Handler(QuietHandler, BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.do_POST()

            def do_POST(self) -> None:
                body = self.read_data()
                upstream.asked.append(self.path)
                told = {"by": upstream.name, "bytes": len(body), "headers": dict(self.headers.items())}
                self.send_data(upstream.status, json.dumps(told).encode())

        return Handler


@pytest.fixture
def engines() -> Iterator[dict[str, Upstream]]:
    engines = {name: Upstream(name) for name in ("first", "second")}
    yield engines
    for engine in engines.values():
        engine.stop()


@pytest.fixture
def web() -> Iterator[Upstream]:
    web = Upstream("web")
    yield web
    web.stop()


@pytest.fixture
def proxy(engines: dict[str, Upstream], web: Upstream, tmp_path: Path) -> Iterator[httpx.Client]:
    with running_proxy(engines, web, tmp_path) as proxy:
        yield proxy


@contextmanager
def running_proxy(engines: dict[str, Upstream], web: Upstream, tmp_path: Path, **more: str) -> Iterator[httpx.Client]:
    url = f"http://127.0.0.1:{free_port()}"
    environment = {
        "INFERSCALE_ENGINE_URLS": ",".join(engine.url for engine in engines.values()),
        "WEB_URLS": f"{web.url}/",
        "LISTEN": url.removeprefix("http://"),
        "RUN": str(tmp_path / "run"),
        **more,
    }
    with Supervisor(tmp_path) as supervisor, httpx.Client(base_url=url, timeout=30) as client:
        child = Child("proxy", ("sh", str(PROXY / "start.sh")), answers(f"{url}/health/proxy"), 30, environment)
        supervisor.start(child)
        supervisor.wait_ready("proxy")
        yield client


def chat(proxy: httpx.Client, user: str = "ada", *, key: str = "", path: str = CHAT, **body: object) -> str:
    """Who answered."""
    headers = {"authorization": f"Bearer {key or new_key(TENANT)}"}
    response = proxy.post(path, json={"messages": [], "user": user, **body}, headers=headers)
    return str(response.raise_for_status().json()["by"])


def test_an_owner_is_always_served_by_the_same_engine_whichever_key_is_used(proxy: httpx.Client) -> None:
    served = defaultdict[str, set[str]](set)
    for user in (f"user {number} ä" for number in range(40)):
        served[user] |= {chat(proxy, user) for _ in range(3)}
        served[user].add(chat(proxy, "ignored", memory={"user_id": user, "agent_id": "x"}))
        served[user].add(chat(proxy, user, path="/v1/memory/plan"))
    counts = Counter(engine for engines in served.values() for engine in engines)
    assert sum(counts.values()) == 40, "each by one"
    assert min(counts.values()) >= 8, "and all share them"


def test_the_same_name_of_another_tenant_may_be_served_by_another(proxy: httpx.Client) -> None:
    users = [f"user {number}" for number in range(20)]
    assert [chat(proxy, user) for user in users] != [chat(proxy, user, key=new_key(OTHER)) for user in users]


@pytest.mark.parametrize("kind", ["user", "agent", "app", "run"])
def test_workers_reach_the_owners_engine(proxy: httpx.Client, kind: str) -> None:
    for name in (f"n {number} ü" for number in range(10)):
        headers = {"x-inferscale-affinity": owner_affinity(tenant_id=TENANT, kind=kind, name=name)}
        worker = proxy.post("/v1/completions", json={}, headers=headers).json()["by"]
        assert worker == chat(proxy, memory={f"{kind}_id": name})


@pytest.mark.parametrize("trouble", ["away", 503])
def test_another_engine_takes_over(proxy: httpx.Client, engines: dict[str, Upstream], trouble: str | int) -> None:
    served = {user: chat(proxy, user) for user in map(str, range(20))}
    lost = engines["first"]
    if trouble == "away":
        lost.stop()
    else:
        lost.status = 503
    assert {chat(proxy, user) for user in served} == {"second"}
    assert set(served.values()) == {"first", "second"}


def test_one_that_is_left_is_asked_when_the_other_is_away(proxy: httpx.Client, engines: dict[str, Upstream]) -> None:
    """Right after a failure of its own, for which it is left alone as long as there are others."""
    first, second = engines.values()
    first.stop()
    second.status = 503
    assert {proxy.post(CHAT, json={"user": str(user)}).status_code for user in range(10)} <= {502, 503}
    second.status = 200
    assert {chat(proxy, str(user)) for user in range(10)} == {"second"}


def test_what_all_engines_refuse_is_told_in_their_words(proxy: httpx.Client, engines: dict[str, Upstream]) -> None:
    for engine in engines.values():
        engine.status = 503
    for _ in range(3):
        answer = proxy.post(CHAT, json={"user": "ada"})
        assert (answer.status_code, answer.json()["by"] in engines) == (503, True)


def test_a_long_body_arrives_whole(proxy: httpx.Client) -> None:
    body = json.dumps({"user": "ada", "messages": ["x" * (8 << 20)]})
    told = proxy.post(CHAT, content=body, headers={"authorization": f"Bearer {new_key(TENANT)}"}).json()
    assert (told["by"], told["bytes"]) == (chat(proxy), len(body))
    assert proxy.post(CHAT, content=b"x" * (33 << 20)).status_code == 413


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"user": {"a": 1}}', b'{"memory": "x"}', b"\xff\xfe"])
def test_what_an_engine_will_refuse_reaches_one(proxy: httpx.Client, body: bytes) -> None:
    assert proxy.post(CHAT, content=body).json()["by"] in ("first", "second")


def test_everything_else_is_the_web_processes(proxy: httpx.Client, web: Upstream) -> None:
    for path in ("/", "/v1/memories/", "/v1/chat/completions/", "/health/ready", "/admin/"):
        assert proxy.get(path).json()["by"] == "web"
    assert proxy.get("/v1/models").json()["by"] in ("first", "second")
    assert proxy.get("/metrics").status_code == 404
    assert "/metrics" not in web.asked


def test_a_request_has_one_id_everywhere(proxy: httpx.Client) -> None:
    given = proxy.get("/", headers={"x-request-id": "abc-1"}).json()["headers"]
    made = proxy.get("/", headers={"x-request-id": "not; one"}).json()["headers"]
    assert given["X-Request-ID"] == "abc-1"
    assert re.fullmatch("[0-9a-f]{32}", made["X-Request-ID"])


def test_new_addresses_are_followed(engines: dict[str, Upstream], web: Upstream, tmp_path: Path) -> None:
    """A name server's answers are played by a command of the same name as the one that asks it."""
    found = tmp_path / "found"
    found.write_text("10.0.0.1 STREAM engine\n")
    asker = tmp_path / "getent"
    asker.write_text(f"#!/bin/sh\ncat {found}\n")
    asker.chmod(0o755)
    with running_proxy(engines, web, tmp_path, PATH=f"{tmp_path}:{os.environ['PATH']}") as proxy:
        master = psutil.Process(int((tmp_path / "run" / "nginx.pid").read_text()))
        before = {child.pid for child in master.children() if "nginx" in child.name()}
        found.write_text("10.0.0.1 STREAM engine\n10.0.0.2 STREAM engine\n")
        until(lambda: not before & {child.pid for child in master.children()}, "the configuration is read again", 30)
        assert chat(proxy) in ("first", "second")


def test_the_mark_is_all_that_keys_of_a_tenant_share() -> None:
    one, two, strange = new_key(TENANT), new_key(TENANT), new_key(OTHER)
    assert one[-8:] == two[-8:] != strange[-8:]
    assert one[4:-8] != two[4:-8]
    assert hashlib.sha256(str(TENANT).encode()).hexdigest()[:8] != one[-8:]
