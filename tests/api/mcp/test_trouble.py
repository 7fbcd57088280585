"""Keys, scopes, tenants and limits are those of the memory API; what a tool cannot do, it says."""

import httpx
import pytest
import redis
from asgiref.sync import sync_to_async
from mcp import MCPError
from tenants.models import Tenant
from tenants.services import api_key_create

from tests.api.mcp.conftest import Connect

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
HEADERS = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}


@pytest.mark.parametrize("authorization", [None, "Bearer isk_wrong", "Basic YTpi", "Bearer"])
def test_without_a_key_that_lives_nothing_is_served(web: str, authorization: str | None) -> None:
    headers = {**HEADERS, **({"authorization": authorization} if authorization else {})}
    answer = httpx.post(f"{web}/mcp", json=LIST, headers=headers)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert list(answer.json()) == ["detail"]


def test_a_key_is_taken_in_both_schemes_and_with_or_without_the_slash(web: str, key: str) -> None:
    for path, scheme in (("/mcp", "Token"), ("/mcp/", "Bearer")):
        answer = httpx.post(f"{web}{path}", json=LIST, headers={**HEADERS, "authorization": f"{scheme} {key}"})
        assert answer.status_code == 200, answer.text
        assert answer.json()["result"]["tools"]


def test_only_post_is_served_and_the_rest_of_the_web_process_is_django(web: str, key: str) -> None:
    assert httpx.get(f"{web}/mcp", headers={"authorization": f"Bearer {key}"}).status_code == 405
    assert httpx.get(f"{web}/health/live").json() == {"status": "ok"}
    assert httpx.get(f"{web}/v1/ping/", headers={"authorization": f"Token {key}"}).json()["status"] == "ok"


@pytest.mark.asyncio
async def test_a_stranger_finds_changes_and_deletes_nothing_of_ours(
    connect: Connect, key: str, strangers_key: str
) -> None:
    async with connect(key) as ours, connect(strangers_key) as theirs:
        added = await ours("add_memory", text="Ada keeps bees", user_id="ada", infer=False)
        memory_id = added["results"][0]["id"]
        assert await theirs.texts(user_id="ada") == []
        assert (await theirs("search_memories", query="bees", threshold=0))["results"] == []
        for tool, more in (("get_memory", {}), ("update_memory", {"text": "taken over"}), ("delete_memory", {})):
            assert await theirs.refused(tool, memory_id=memory_id, **more) == f"There is no memory {memory_id}."
        await theirs("delete_all_memories", user_id="ada")
        assert await ours.texts() == ["Ada keeps bees"]


@pytest.mark.asyncio
async def test_a_key_without_the_scope_is_told_which_it_lacks(connect: Connect, tenant: Tenant, key: str) -> None:
    reader = await _key(tenant, scopes=["read"])
    async with connect(reader) as tools:
        assert '"write"' in await tools.refused("add_memory", text="Ada keeps bees", user_id="ada")
        assert await tools.texts() == []


@pytest.mark.asyncio
async def test_a_key_that_calls_too_often_is_told_to_wait(
    connect: Connect, tenant: Tenant, broker: redis.Redis
) -> None:
    async with connect(await _key(tenant, requests_per_minute=2)) as tools:
        assert [await tools.texts(), await tools.texts()] == [[], []]
        assert "Expected available in" in await tools.refused("get_memories")


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("tool", "arguments", "says"),
    [
        ("search_memories", {}, "query: Field required"),
        ("search_memories", {"query": "bees", "userid": "ada"}, "userid: Extra inputs are not permitted"),
        ("search_memories", {"query": "bees", "top_k": 0}, "top_k: "),
        ("search_memories", {"query": " ", "user_id": "ada"}, "query: The query must contain text."),
        ("get_memories", {"filters": {"colour": "red"}}, "filters: unknown filter 'colour'"),
        ("add_memory", {"text": "Ada keeps bees"}, "user_id: name at least one of"),
        ("add_memory", {"text": "x", "user_id": "ada", "metadata": {"user_id": "bob"}}, "metadata: "),
        ("add_memory", {"text": " ", "user_id": "ada"}, "messages: "),
        ("get_memory", {"memory_id": "../../v1/keys"}, "memory_id: Input should be a valid UUID"),
        ("delete_all_memories", {}, "user_id: name at least one of"),
    ],
)
async def test_bad_arguments_are_explained(
    connect: Connect, key: str, tool: str, arguments: dict[str, object], says: str
) -> None:
    async with connect(key) as tools:
        assert says in await tools.refused(tool, **arguments)


@pytest.mark.asyncio
async def test_an_unknown_tool_is_an_error_of_the_protocol(connect: Connect, key: str) -> None:
    async with connect(key) as tools:
        with pytest.raises(MCPError, match="There is no tool drop_tables"):
            await tools("drop_tables")


async def _key(tenant: Tenant, **options: object) -> str:
    created = await sync_to_async(api_key_create)(tenant=tenant, name="other", **options)  # type: ignore[arg-type]
    return created[1]
