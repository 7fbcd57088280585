"""Calls at the same time keep their tenants apart, and equal adds are stored once."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import httpx
import pytest
from pytest_django.live_server_helper import LiveServer
from tenants.services import api_key_create, tenant_create


@pytest.fixture
def keys(transactional_db: None) -> list[str]:
    return [api_key_create(tenant=tenant_create(name=name), name="app")[1] for name in ("Owner's", "Stranger's")]


def post(server: LiveServer, key: str, path: str, body: dict[str, Any]) -> Any:
    response = httpx.post(f"{server.url}{path}", json=body, headers={"Authorization": f"Token {key}"}, timeout=60)
    assert response.status_code == 200, response.text
    return response.json()


def add(server: LiveServer, key: str, text: str) -> Any:
    body = {"messages": [{"role": "user", "content": text}], "user_id": "alice", "infer": False}
    return post(server, key, "/v3/memories/add/", body)["results"][0]


def test_each_tenant_reads_its_own_memories_only(live_server: LiveServer, keys: list[str]) -> None:
    for key in keys:
        add(live_server, key, f"Alice has the key {key[-6:]}")
    with ThreadPoolExecutor(8) as pool:
        read = list(pool.map(lambda key: (key, post(live_server, key, "/v3/memories/", {})["results"]), keys * 20))
    assert all([memory["memory"] for memory in memories] == [f"Alice has the key {key[-6:]}"] for key, memories in read)


def test_equal_adds_at_once_store_one_memory(live_server: LiveServer, keys: list[str]) -> None:
    with ThreadPoolExecutor(20) as pool:
        results = list(pool.map(lambda _: add(live_server, keys[0], "Alice keeps bees"), range(20)))
    assert len({result["id"] for result in results}) == 1
    assert sorted(result["event"] for result in results) == ["ADD"] + ["NONE"] * 19
    assert post(live_server, keys[0], "/v3/memories/", {})["count"] == 1
