"""Everything is restarted, one after the other, while twenty users chat and search: no request of theirs fails."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Event
from uuid import uuid4

import httpx
import pytest
from tenants.services import api_key_create, tenant_create

from tests.deploy.deployment import ENGINES, WEB, WORKERS, Deployment
from tests.workers.running.processes import until

pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True), pytest.mark.timeout(1800)]
USERS = 20
PAUSE_SECONDS = 8.0
TURNS_A_FACT = 10
MOST_SECONDS = 300.0


@dataclass
class User:
    """Asks once, never twice; every answer is complete or an error."""

    name: str
    client: httpx.Client
    model: str
    turns: int = 0
    errors: list[str] = field(default_factory=list)

    def go_on(self, stop: Event) -> None:
        while not stop.is_set():
            try:
                self._turn()
            except Exception as error:
                self.errors.append(f"{self.name}: {error!r}")
            self.turns += 1
            stop.wait(PAUSE_SECONDS)

    def _turn(self) -> None:
        self._stream() if self.turns % 2 else self._chat()
        if self.turns % TURNS_A_FACT == 0:
            self.remember()
        search = {"query": f"Which stories has {self.name} told?", "filters": {"user_id": self.name}}
        found = self.client.post("/v3/memories/search/", json=search).raise_for_status().json()["results"]
        assert found, "nothing is found"

    def remember(self) -> None:
        fact = {"role": "user", "content": f"{self.name} has told {self.turns} stories."}
        add = {"messages": [fact], "user_id": self.name, "infer": False}
        self.client.post("/v3/memories/add/", json=add).raise_for_status()

    def _chat(self) -> None:
        answer = self.client.post("/v1/chat/completions", json=self._body).raise_for_status().json()
        assert answer["choices"][0]["finish_reason"]

    def _stream(self) -> None:
        with self.client.stream("POST", "/v1/chat/completions", json={**self._body, "stream": True}) as answer:
            lines = [line for line in answer.raise_for_status().iter_lines() if line]
        assert lines[-1] == "data: [DONE]"

    @property
    def _body(self) -> dict[str, object]:
        messages = [{"role": "user", "content": "Which pets do I have?"}]
        return {"model": self.model, "messages": messages, "user": self.name, "max_tokens": 4, "temperature": 0}


@contextmanager
def users_at_work(deployment: Deployment) -> Iterator[list[User]]:
    _, key = api_key_create(tenant=tenant_create(name="Home", slug=uuid4().hex), name="app")
    stop, headers = Event(), {"authorization": f"Bearer {key}"}
    with (
        httpx.Client(base_url=deployment.url, headers=headers, timeout=MOST_SECONDS) as client,
        ThreadPoolExecutor(USERS) as pool,
    ):
        users = [User(f"user{number}", client, deployment.model) for number in range(USERS)]
        for user in users:
            user.remember()
        going: list[Future[None]] = [pool.submit(user.go_on, stop) for user in users]
        try:
            yield users
        finally:
            stop.set()
        for future in going:
            future.result()


def wait_for_a_turn(users: list[User]) -> None:
    """Of every user."""
    before = [user.turns for user in users]
    until(lambda: all(user.turns > turns for user, turns in zip(users, before, strict=True)), "all go on", 180)


def test_no_request_fails(deployment: Deployment) -> None:
    with users_at_work(deployment) as users:
        for name in (*ENGINES, *WEB, *WORKERS, "beat"):
            deployment.end(name)
            deployment.start(name)
            deployment.wait_ready(name)
            if name in (*ENGINES, *WEB):
                wait_for_a_turn(users)
        wait_for_a_turn(users)
    assert [error for user in users for error in user.errors] == []
