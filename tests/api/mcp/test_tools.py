"""The tools do what the memory API does, for both generations of the protocol."""

import pytest

from tests.api.mcp.conftest import Connect

pytestmark = pytest.mark.asyncio


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_what_is_added_is_found_listed_changed_and_deleted(connect: Connect, key: str, mode: str) -> None:
    async with connect(key, mode=mode) as tools:
        added = await tools(
            "add_memory", text="Ada keeps bees", user_id="ada", infer=False, metadata={"topic": "hobby"}
        )
        (memory_id,) = (result["id"] for result in added["results"])
        (found,) = (await tools("search_memories", query="Which insects?", user_id="ada", threshold=0))["results"]
        assert (found["id"], found["memory"], found["metadata"]) == (memory_id, "Ada keeps bees", {"topic": "hobby"})
        assert await tools.texts(user_id="ada") == ["Ada keeps bees"]
        await tools("update_memory", memory_id=memory_id, text="Ada keeps wasps")
        changed = await tools("get_memory", memory_id=memory_id)
        assert (changed["memory"], changed["metadata"]) == ("Ada keeps wasps", {"topic": "hobby"})
        await tools("delete_memory", memory_id=memory_id)
        assert await tools.texts(user_id="ada") == []


async def test_names_and_filters_narrow_what_is_listed(connect: Connect, key: str) -> None:
    async with connect(key) as tools:
        await tools("add_memory", text="Ada keeps bees", user_id="ada", infer=False)
        await tools("add_memory", text="Ada sells honey", user_id="ada", agent_id="shop", infer=False)
        await tools("add_memory", text="Bob drinks tea", user_id="bob", infer=False)
        assert await tools.texts(user_id="ada", filters={"keywords": "HONEY"}) == ["Ada sells honey"]
        assert await tools.texts(agent_id="shop") == ["Ada sells honey"]
        assert len(await tools.texts()) == 3
        entities = (await tools("list_entities"))["results"]
        assert [(entity["type"], entity["name"], entity["total_memories"]) for entity in entities] == [
            ("user", "ada", 2),
            ("user", "bob", 1),
            ("agent", "shop", 1),
        ]


async def test_deleting_all_of_somebody_leaves_the_others(connect: Connect, key: str) -> None:
    async with connect(key) as tools:
        for user in ("ada", "bob"):
            await tools("add_memory", text=f"{user} drinks tea", user_id=user, infer=False)
        await tools("delete_all_memories", user_id="ada")
        assert await tools.texts() == ["bob drinks tea"]


async def test_an_add_that_finds_facts_names_the_event_to_follow(connect: Connect, key: str) -> None:
    async with connect(key) as tools:
        added = await tools("add_memory", text="I keep bees.", user_id="ada")
        event = await tools("get_event", event_id=added["event_id"])
        assert (added["status"], event["status"], event["results"]) == ("PENDING", "PENDING", [])


async def test_the_address_says_whose_memory_is_meant_where_a_call_names_nobody(connect: Connect, key: str) -> None:
    async with connect(key, query="?user_id=ada") as tools:
        await tools("add_memory", text="I keep bees", infer=False)
        await tools("add_memory", text="I drink tea", user_id="bob", infer=False)
        assert await tools.texts() == ["I keep bees"]
        await tools("delete_all_memories")
        assert await tools.texts(user_id="bob") == ["I drink tea"]


async def test_every_tool_says_what_it_does_and_what_it_takes(connect: Connect, key: str) -> None:
    async with connect(key) as tools:
        described = (await tools.client.list_tools()).tools
    schemas = {tool.name: tool.input_schema for tool in described}
    assert set(schemas) >= {"add_memory", "search_memories", "get_memories", "delete_memory"}
    assert schemas["search_memories"]["required"] == ["query"]
    assert all(schema["additionalProperties"] is False for schema in schemas.values())
    assert all(tool.description and tool.annotations for tool in described)
    reads = {tool.name for tool in described if tool.annotations and tool.annotations.read_only_hint}
    assert reads == {"search_memories", "get_memories", "get_memory", "list_entities", "get_event"}
