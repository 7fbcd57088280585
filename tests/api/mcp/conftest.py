"""The web process's application on a port of its own, and the published MCP client to call it with."""

import gc
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

import httpx2
import pytest
import uvicorn
from config.asgi import application
from mcp.client.client import Client, ConnectMode
from mcp.client.streamable_http import streamable_http_client
from tenants.models import Tenant
from tenants.services import api_key_create, tenant_create

from tests.workers.running.processes import until
from tests.workers.troubled_engine import free_port


@dataclass(frozen=True)
class Tools:
    """What one who is connected can do."""

    client: Client

    async def __call__(self, name: str, **arguments: Any) -> Any:
        """The structured answer of a tool that succeeds."""
        result = await self.client.call_tool(name, arguments)
        assert not result.is_error, result.content
        return result.structured_content

    async def refused(self, name: str, **arguments: Any) -> str:
        """What a tool says that does not succeed."""
        result = await self.client.call_tool(name, arguments)
        assert result.is_error, result.structured_content
        (content,) = result.content
        return str(content.text)  # type: ignore[union-attr]

    async def texts(self, **arguments: Any) -> list[str]:
        return [memory["memory"] for memory in (await self("get_memories", **arguments))["results"]]


Connect = Callable[..., AbstractAsyncContextManager[Tools]]


@pytest.fixture
def web(transactional_db: None) -> Iterator[str]:
    """Its address."""
    server = uvicorn.Server(uvicorn.Config(application, port=free_port(), log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    until(lambda: server.started, "the web process starts")
    yield f"http://127.0.0.1:{server.config.port}"
    server.should_exit = True
    thread.join()
    gc.collect()  # with the threads of its requests, whose connections would hold the test database


@pytest.fixture
def connect(web: str) -> Connect:
    @asynccontextmanager
    async def connected(key: str, *, query: str = "", mode: ConnectMode = "auto") -> AsyncIterator[Tools]:
        headers = {"authorization": f"Bearer {key}"}
        async with httpx2.AsyncClient(headers=headers, timeout=60) as http:
            transport = streamable_http_client(f"{web}/mcp{query}", http_client=http)
            async with Client(transport, mode=mode) as client:
                yield Tools(client)

    return connected


@pytest.fixture
def tenant(web: str) -> Tenant:
    return tenant_create(name="Owner's company")


@pytest.fixture
def key(tenant: Tenant) -> str:
    return api_key_create(tenant=tenant, name="app", scopes=["read", "write"])[1]


@pytest.fixture
def strangers_key(web: str) -> str:
    return api_key_create(tenant=tenant_create(name="Stranger's company"), name="app")[1]
