"""An application written for Mem0's own client works here with only its host and key changed."""

import importlib
from typing import Any

import pytest
from tenants.services import api_key_create, tenant_create


def test_a_memory_lives_its_life_through_the_client(connect: Any) -> None:
    tenant = tenant_create(name="Company")
    client = connect(api_key_create(tenant=tenant, name="app")[1])
    assert client.org_id == client.project_id == str(tenant.id)

    added = client.add("Alice plays the cello", user_id="alice", infer=False, metadata={"topic": "music"})
    assert (added["status"], added["results"][0]["event"]) == ("SUCCEEDED", "ADD")
    memory_id = added["results"][0]["id"]
    client.add([{"role": "user", "content": "Bob drinks tea"}], user_id="bob", infer=False)

    found = client.search("Who plays an instrument?", filters={"user_id": "alice"}, top_k=3, threshold=0.0)
    assert [memory["memory"] for memory in found["results"]] == ["Alice plays the cello"]

    page = client.get_all(filters={"AND": [{"user_id": "alice"}]}, page=1, page_size=50)
    assert (page["count"], page["results"][0]["id"]) == (1, memory_id)
    assert client.get_all(filters={"user_id": "bob"})["results"][0]["memory"] == "Bob drinks tea"

    assert client.get(memory_id)["metadata"] == {"topic": "music"}
    assert client.update(memory_id, text="Alice plays the viola")["memory"] == "Alice plays the viola"
    assert client.get(memory_id)["memory"] == "Alice plays the viola"

    assert "deleted" in client.delete(memory_id, delete_linked=True)["message"]
    assert [entry["event"] for entry in client.history(memory_id)] == ["ADD", "UPDATE", "DELETE"]

    assert client.delete_all(user_id="bob")["message"] == "1 memories deleted."
    assert client.get_all(filters={})["count"] == 0


def test_the_typed_options_of_the_client_work_too(connect: Any) -> None:
    types = importlib.import_module("mem0.client.types")
    client = connect(api_key_create(tenant=tenant_create(name="Company"), name="app")[1])
    alice = {"user_id": "alice"}
    options = types.AddMemoryOptions(
        filters=alice, infer=False, timestamp=1_700_000_000, expiration_date="2090-01-01", custom_instructions="none"
    )
    (result,) = client.add("Alice plays the cello", options)["results"]
    search = types.SearchMemoryOptions(filters=alice, threshold=0.0, rerank=True, fields=["memory"], latest_only=True)
    assert client.search("cello", search)["results"] == [{"id": result["id"], "memory": "Alice plays the cello"}]
    listing = types.GetAllMemoryOptions(filters=alice, page=1, page_size=10, start_date="2020-01-01", latest_only=True)
    assert client.get_all(listing)["count"] == 1
    update = types.UpdateMemoryOptions(metadata={"topic": "music"}, expiration_date=None)
    assert client.update(result["id"], update)["expiration_date"] is None
    client.delete_all(types.DeleteAllMemoryOptions(filters=alice))
    assert client.get_all(filters=alice)["results"] == []


def test_errors_arrive_as_the_clients_own(connect: Any) -> None:
    errors = importlib.import_module("mem0.exceptions")
    with pytest.raises(ValueError, match="unknown, expired or revoked"):
        connect("isk_wrong")
    client = connect(api_key_create(tenant=tenant_create(name="Company"), name="app")[1])
    with pytest.raises(errors.MemoryNotFoundError):
        client.get("123e4567-e89b-12d3-a456-426614174000")
    with pytest.raises(errors.ValidationError):
        client.get("not-a-uuid")
    with pytest.raises(errors.ValidationError):
        client.delete_all()


def test_a_stranger_with_the_same_client_sees_nothing(connect: Any) -> None:
    owner = connect(api_key_create(tenant=tenant_create(name="Owner's company"), name="app")[1])
    stranger = connect(api_key_create(tenant=tenant_create(name="Stranger's company"), name="app")[1])
    owner.add("Alice plays the cello", user_id="alice", infer=False)
    assert stranger.get_all(filters={"user_id": "alice"})["count"] == 0
    assert stranger.search("cello", filters={"user_id": "alice"}, threshold=0.0)["results"] == []
