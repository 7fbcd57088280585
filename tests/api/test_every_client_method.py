"""Every method that Mem0's two clients have does its work here: one life, told once, lived by both."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
import redis
from django.contrib.auth.models import User
from pytest_django.live_server_helper import LiveServer
from tenants.services import api_key_create, membership_set, tenant_create

from tests.api.working import work_in_a_thread
from tests.workers.chat_server import ChatServer
from tests.workers.conftest import chat_server

__all__ = ["chat_server"]

Call = Callable[..., Awaitable[Any]]
OWN = {"chat"}  # raises NotImplementedError by itself
SCHEMA = {"properties": {"memory": {"type": "string"}, "user_id": {"type": "string"}}}
PROFILE = {"properties": {"job": {"type": "string", "description": "What they do"}}}


def methods(client_class: type) -> set[str]:
    members = inspect.getmembers(client_class, inspect.isfunction)
    return {name for name, _ in members if not name.startswith("_")} - OWN


@pytest.fixture
def key(transactional_db: None, broker: redis.Redis, chat_server: ChatServer) -> str:
    tenant = tenant_create(name="Company")
    owner = User.objects.create_user("owner", "owner@example.com")
    User.objects.create_user("ann", "ann@example.com")
    membership_set(tenant=tenant, user=owner, role="owner")
    return api_key_create(tenant=tenant, name="app", scopes=["read", "write", "admin"])[1]


def test_the_client(key: str, live_server: LiveServer, mem0: Any) -> None:
    client = mem0.MemoryClient(api_key=key, host=live_server.url)
    called: set[str] = set()

    async def call(name: str, /, *args: Any, **kwargs: Any) -> Any:
        called.add(name)
        return getattr(client, name)(*args, **kwargs)

    async def call_project(name: str, /, *args: Any, **kwargs: Any) -> Any:
        called.add(f"project.{name}")
        return getattr(client.project, name)(*args, **kwargs)

    asyncio.run(life(call, call_project, client.project_id, mem0))
    project = {f"project.{name}" for name in methods(type(client.project))}
    assert called == methods(mem0.MemoryClient) | project
    client.client.close()


def test_the_async_client(key: str, live_server: LiveServer, mem0: Any) -> None:
    called: set[str] = set()

    async def run() -> Any:
        async with mem0.AsyncMemoryClient(api_key=key, host=live_server.url) as client:

            async def call(name: str, /, *args: Any, **kwargs: Any) -> Any:
                called.add(name)
                return await getattr(client, name)(*args, **kwargs)

            async def call_project(name: str, /, *args: Any, **kwargs: Any) -> Any:
                called.add(f"project.{name}")
                return await getattr(client.project, name)(*args, **kwargs)

            await life(call, call_project, client.project_id, mem0)
            return client

    client = asyncio.run(run())
    project = {f"project.{name}" for name in methods(type(client.project))}
    assert called == methods(mem0.AsyncMemoryClient) | project


async def life(call: Call, project: Call, project_id: str, mem0: Any) -> None:
    bees, tea = await memories(call)
    await exports(call)
    await profiles(call)
    await webhooks(call, project_id)
    await settings(call, project, mem0)
    await endings(call, bees, tea, mem0)
    assert "closed" in (await project("delete"))["message"]
    with pytest.raises(mem0.exceptions.AuthenticationError):
        await call("users")


async def memories(call: Call) -> tuple[str, str]:
    added = await call("add", "Alice keeps bees", user_id="alice", infer=False, metadata={"topic": "hobby"})
    bees = added["results"][0]["id"]
    tea = (await call("add", "Bob drinks tea", user_id="bob", infer=False))["results"][0]["id"]
    assert (await call("get", bees))["memory"] == "Alice keeps bees"
    assert (await call("get_all", filters={"user_id": "alice"}))["count"] == 1
    found = await call("search", "bees", filters={"OR": [{"user_id": "alice"}, {"user_id": "bob"}]}, threshold=0.0)
    assert [memory["id"] for memory in found["results"]] == [bees, tea]
    assert (await call("update", bees, text="Alice keeps two hives"))["memory"] == "Alice keeps two hives"
    assert [entry["event"] for entry in await call("history", bees)] == ["ADD", "UPDATE"]
    updates = [{"memory_id": bees, "text": "Alice keeps three hives"}, {"memory_id": tea, "metadata": {"hot": True}}]
    assert "2" in (await call("batch_update", updates))["message"]
    assert (await call("get", bees))["memory"] == "Alice keeps three hives"
    assert (await call("get", tea))["metadata"] == {"hot": True}
    said = await call("feedback", bees, "positive", "that is right")
    assert (said["feedback"], said["feedback_reason"]) == ("POSITIVE", "that is right")
    summary = await call("get_summary", {"user_id": "alice"})
    assert summary["summary"] == "- Alice keeps three hives"
    return bees, tea


async def exports(call: Call) -> None:
    asked = await call("create_memory_export", SCHEMA, filters={"user_id": "alice"})
    assert (await call("get_memory_export", memory_export_id=asked["id"]))["status"] == "PENDING"
    await asyncio.to_thread(work_in_a_thread)
    written = await call("get_memory_export", filters={"user_id": "alice"})
    assert written["memories"] == [{"memory": "Alice keeps three hives", "user_id": "alice"}]


async def profiles(call: Call) -> None:
    assert (await call("get_profile", "alice"))["status"] == "not_enabled"
    assert (await call("update_profile_settings", enabled=True))["enabled"] is True
    job = await call("generate_profile", "alice", idempotency_key="once")
    assert (await call("generate_profile", "alice", idempotency_key="once"))["job_id"] == job["job_id"]
    assert (await call("get_profile", "alice"))["status"] == "pending"
    sample = await call("sample_profiles", limit=1)
    assert sample["sampled"] == len(sample["entity_ids"]) == 1
    await asyncio.to_thread(work_in_a_thread)
    done = (await call("get_profile_job", job["status_url"]))["job"]
    assert (done["status"], done["succeeded"], done["failed"]) == ("succeeded", 1, 0)
    profile = await call("get_profile", "alice")
    assert (profile["status"], profile["profile"]) == ("succeeded", "Alice keeps three hives")
    settings = await call("update_profile_settings", schema=PROFILE, custom_instructions="Be short.")
    assert settings["entities"]["user"] == {"schema": PROFILE, "custom_instructions": "Be short."}
    assert await call("get_profile_settings") == settings


async def webhooks(call: Call, project_id: str) -> None:
    made = await call("create_webhook", "https://example.com/hook", "Logger", project_id, ["memory_add"])
    assert made["secret"].startswith("whsec_")
    (listed,) = await call("get_webhooks", project_id)
    assert (listed["name"], listed["event_types"], "secret" in listed) == ("Logger", ["memory_add"], False)
    changed = await call("update_webhook", made["webhook_id"], name="Log", event_types=["memory_update"])
    assert (changed["name"], changed["url"]) == ("Log", "https://example.com/hook")
    assert "deleted" in (await call("delete_webhook", made["webhook_id"]))["message"]
    assert await call("get_webhooks", project_id) == []


async def settings(call: Call, project: Call, mem0: Any) -> None:
    await project("update", custom_instructions="Only hobbies.", custom_categories=[{"hobby": "What they like"}])
    assert await project("get", fields=["custom_instructions"]) == {"custom_instructions": "Only hobbies."}
    await call("update_project", multilingual=False, memory_depth="deep")
    whole = await call("get_project")
    assert (whole["multilingual"], whole["memory_depth"]) == (False, "deep")
    assert whole["custom_categories"] == [{"hobby": "What they like"}]
    await project("add_member", "ann@example.com")
    await project("update_member", "ann@example.com", "OWNER")
    roles = {member["email"]: member["role"] for member in (await project("get_members"))["members"]}
    assert roles == {"owner@example.com": "OWNER", "ann@example.com": "OWNER"}
    await project("remove_member", "ann@example.com")
    assert len((await project("get_members"))["members"]) == 1
    with pytest.raises(mem0.exceptions.MemoryError, match="staff"):
        await project("create", "Another")


async def endings(call: Call, bees: str, tea: str, mem0: Any) -> None:
    users = await call("users")
    assert [(user["type"], user["name"], user["total_memories"]) for user in users["results"]] == [
        ("user", "alice", 1),
        ("user", "bob", 1),
    ]
    assert (await call("delete", tea))["message"] == "Memory deleted."
    assert "1" in (await call("batch_delete", [{"memory_id": bees}]))["message"]
    with pytest.raises(mem0.exceptions.MemoryNotFoundError):
        await call("get", bees)
    await call("add", "Carol sings", user_id="carol", agent_id="helper", infer=False)
    assert (await call("delete_all", user_id="carol"))["message"] == "1 memories deleted."
    await call("add", "Carol sings", user_id="carol", agent_id="helper", infer=False)
    assert "success" in (await call("delete_users", user_id="carol"))["message"]
    await call("add", "Dan dances", user_id="dan", app_id="app", run_id="run", infer=False)
    await call("add", "The app is slow", app_id="app", infer=False)
    assert "successful" in (await call("reset"))["message"]
    assert (await call("users"))["results"] == []
