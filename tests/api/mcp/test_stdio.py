"""`manage.py mcp` is a client of the memory API that desktop applications start."""

import subprocess
import sys

import pytest
from config.env import ROOT
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters

from tests.api.mcp.conftest import Tools
from tests.workers.troubled_engine import free_port


def command(url: str, key: str, *more: str) -> StdioServerParameters:
    arguments = [str(ROOT / "manage.py"), "mcp", "--url", url, *more]
    return StdioServerParameters(command=sys.executable, args=arguments, env={"INFERSCALE_MCP_KEY": key})


@pytest.mark.asyncio
async def test_a_desktop_client_remembers_for_the_user_it_was_started_for(web: str, key: str) -> None:
    async with Client(command(web, key, "--user", "ada")) as client:
        tools = Tools(client)
        await tools("add_memory", text="Ada keeps bees", infer=False)
        (found,) = (await tools("search_memories", query="insects", threshold=0))["results"]
        assert (found["memory"], found["user_id"]) == ("Ada keeps bees", "ada")


@pytest.mark.asyncio
async def test_a_memory_api_that_is_away_is_said_by_the_tool() -> None:
    async with Client(command(f"http://127.0.0.1:{free_port()}", "isk_any")) as client:
        assert "does not answer" in await Tools(client).refused("get_memories")


def test_without_a_key_it_does_not_start() -> None:
    command = [sys.executable, str(ROOT / "manage.py"), "mcp"]
    ended = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert ended.returncode == 1
    assert "INFERSCALE_MCP_KEY" in ended.stderr
