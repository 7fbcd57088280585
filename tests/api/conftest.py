"""Three people call the API: the owner (a full key), a member (a read-only key of the same tenant), a stranger."""

import importlib
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from facts.models import Event, Fact, FactHistory
from pytest_django.live_server_helper import LiveServer
from tenants.models import Tenant
from tenants.scope import every_tenant
from tenants.services import api_key_create, tenant_create

from tests.streams import content_of


class Caller:
    """Django's test client with a key; every answer is `(status, body)`."""

    def __init__(self, key: str, scheme: str = "Token") -> None:
        self.key = key
        self.client = Client(headers={"Authorization": f"{scheme} {key}"})

    def get(self, path: str, **query: Any) -> tuple[int, Any]:
        return self._answer(self.client.get(path, query))

    def post(self, path: str, body: Any, **query: Any) -> tuple[int, Any]:
        return self._answer(self.client.post(path, body, content_type="application/json", query_params=query))

    def put(self, path: str, body: Any) -> tuple[int, Any]:
        return self._answer(self.client.put(path, body, content_type="application/json"))

    def patch(self, path: str, body: Any) -> tuple[int, Any]:
        return self._answer(self.client.patch(path, body, content_type="application/json"))

    def delete(self, path: str, body: Any = None, **query: Any) -> tuple[int, Any]:
        return self._answer(self.client.delete(path, body or "", content_type="application/json", query_params=query))

    def add(self, *texts: str, user_id: str = "alice", **fields: Any) -> list[str]:
        """Ids of the memories these texts became."""
        messages = [{"role": "user", "content": text} for text in texts]
        body = {"messages": messages, "user_id": user_id, "infer": False, **fields}
        status, answer = self.post("/v3/memories/add/", body)
        assert status == 200, answer
        return [result["id"] for result in answer["results"]]

    def texts(self, **body: Any) -> list[str]:
        """Texts that the list call gives, newest first."""
        status, answer = self.post("/v3/memories/", body)
        assert status == 200, answer
        return [memory["memory"] for memory in answer["results"]]

    @staticmethod
    def _answer(response: Any) -> tuple[int, Any]:
        return response.status_code, json.loads(content_of(response)) if response.streaming else response.json()


@pytest.fixture
def mem0(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Mem0's package; it reads its settings when it is imported."""
    monkeypatch.setenv("MEM0_TELEMETRY", "False")
    monkeypatch.setenv("MEM0_DIR", str(tmp_path))
    return importlib.import_module("mem0")


@pytest.fixture
def connect(transactional_db: None, live_server: LiveServer, mem0: Any) -> Iterator[Any]:
    """Makes a real MemoryClient from a key."""
    clients = []

    def make(key: str) -> Any:
        clients.append(mem0.MemoryClient(api_key=key, host=live_server.url))
        return clients[-1]

    yield make
    for client in clients:
        client.client.close()


@pytest.fixture
def tenant(db: None) -> Tenant:
    return tenant_create(name="Owner's company")


@pytest.fixture
def owner(tenant: Tenant) -> Caller:
    return Caller(api_key_create(tenant=tenant, name="full", scopes=["read", "write"])[1])


@pytest.fixture
def admin(tenant: Tenant) -> Caller:
    return Caller(api_key_create(tenant=tenant, name="admin", scopes=["read", "write", "admin"])[1])


@pytest.fixture
def member(tenant: Tenant) -> Caller:
    return Caller(api_key_create(tenant=tenant, name="reader", scopes=["read"])[1])


@pytest.fixture
def stranger(db: None) -> Caller:
    return Caller(api_key_create(tenant=tenant_create(name="Stranger's company"), name="full")[1])


@pytest.fixture
def stored(db: None) -> Callable[[], tuple[int, int, int]]:
    """How many facts, history entries and events all tenants have together."""

    def count() -> tuple[int, int, int]:
        with every_tenant():
            return Fact.objects.count(), FactHistory.objects.count(), Event.objects.count()

    return count
