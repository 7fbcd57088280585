"""Memories go out as JSON lines that import takes again."""

import json
import warnings
from typing import Any

import pytest
from asgiref.sync import async_to_sync, sync_to_async
from django.core.exceptions import ObjectDoesNotExist
from django.test import AsyncClient
from jobs.models import JobPart
from tenants.models import Tenant
from tenants.scope import tenant_scope
from tenants.services import api_key_create, tenant_create

from tests.api.conftest import Caller
from tests.api.working import work
from tests.streams import content_of
from workers import exporting

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("broker")]
EXPORTS = "/v1/exports/"


def exported(caller: Caller, **body: Any) -> tuple[str, str]:
    """Id and lines of an export."""
    status, answer = caller.post(EXPORTS, {"schema": {}, **body})
    assert status == 201, answer
    work()
    return answer["id"], content_of(caller.client.get(f"{EXPORTS}{answer['id']}/download/")).decode()


def test_what_is_exported_can_be_imported_elsewhere(owner: Caller) -> None:
    owner.add("Alice keeps bees", metadata={"topic": "hobby\u2028\u0085"}, categories=["animals"], run_id="r1")
    owner.add("Bob drinks tea", user_id="bob", expiration_date="2090-06-01", timestamp=1_700_000_000, immutable=True)
    export_id, lines = exported(owner)
    assert owner.get(f"{EXPORTS}{export_id}/")[1]["progress"] == 1.0
    elsewhere = Caller(api_key_create(tenant=tenant_create(name="Elsewhere"), name="app")[1])
    elsewhere.client.post("/v1/imports/", lines.encode(), content_type="application/x-ndjson")
    work()
    names = ("memory", "user_id", "run_id", "metadata", "categories", "expiration_date", "immutable")
    there, here = (
        [{name: memory[name] for name in names} for memory in memories(caller)] for caller in (elsewhere, owner)
    )
    assert there == here


def memories(caller: Caller) -> list[dict[str, Any]]:
    return sorted(caller.post("/v3/memories/", {})[1]["results"], key=lambda memory: str(memory["memory"]))


def test_filters_choose_and_expired_memories_go_too(owner: Caller) -> None:
    (memory_id,) = owner.add("Alice keeps bees")
    owner.put(f"/v1/memories/{memory_id}/", {"expiration_date": "2001-01-01"})
    owner.add("Bob drinks tea", user_id="bob")
    for body in ({"user_id": "alice"}, {"filters": {"AND": [{"user_id": "alice"}]}}):
        assert [json.loads(line)["id"] for line in exported(owner, **body)[1].splitlines()] == [memory_id]


def test_a_schema_chooses_fields_by_their_names(owner: Caller) -> None:
    owner.add("Alice keeps bees")
    schema: dict[str, Any] = {"properties": {"memory": {}, "user_id": {}, "shoe_size": {}}}
    export_id, _ = exported(owner, schema=json.dumps(schema))
    answer = owner.post(f"{EXPORTS}get/", {"memory_export_id": export_id})[1]
    assert answer["memories"] == [{"memory": "Alice keeps bees", "user_id": "alice"}]


@pytest.fixture
def in_parts(owner: Caller, monkeypatch: pytest.MonkeyPatch) -> str:
    """The id of an export of three parts."""
    monkeypatch.setattr(exporting, "ROWS", 2)
    owner.add(*(f"Fact {number}" for number in range(5)))
    return exported(owner)[0]


def asked(caller: Caller, export_id: str, call: str) -> Any:
    if call == "download":
        return caller.client.get(f"{EXPORTS}{export_id}/download/")
    return caller.client.post(f"{EXPORTS}get/", {"memory_export_id": export_id}, content_type="application/json")


def test_an_answer_in_pieces_is_one_document(owner: Caller, in_parts: str) -> None:
    facts = [f"Fact {number}" for number in range(5)]
    answer = asked(owner, in_parts, "get")
    assert answer.headers["content-type"] == "application/json"
    whole = json.loads(content_of(answer))
    assert (whole["id"], whole["status"]) == (in_parts, "SUCCEEDED")
    assert [memory["memory"] for memory in whole["memories"]] == facts
    lines = content_of(asked(owner, in_parts, "download")).decode().splitlines()
    assert [json.loads(line) for line in lines] == whole["memories"]


def test_an_export_of_nothing_is_empty(owner: Caller) -> None:
    export_id, lines = exported(owner)
    assert lines == ""
    assert owner.post(f"{EXPORTS}get/", {"memory_export_id": export_id})[1]["memories"] == []


@pytest.mark.parametrize("call", ["download", "get"])
def test_parts_are_read_as_they_are_sent(owner: Caller, tenant: Tenant, in_parts: str, call: str) -> None:
    answer = asked(owner, in_parts, call)

    async def read() -> bytes:
        body = b""
        async for piece in answer:
            if not body:
                await sync_to_async(change_last_part)()
            body += piece
        return body

    def change_last_part() -> None:
        with tenant_scope(tenant):
            part = JobPart.objects.get(number=3)
            JobPart.objects.filter(pk=part.pk).update(body=part.body.replace("Fact 4", "Changed since"))

    assert b"Changed since" in async_to_sync(read)()


@pytest.mark.parametrize("call", ["download", "get"])
def test_an_export_that_is_deleted_while_it_is_sent_does_not_look_whole(
    owner: Caller, in_parts: str, call: str
) -> None:
    answer = asked(owner, in_parts, call)

    async def read() -> None:
        async for _ in answer:
            await sync_to_async(owner.delete)(f"{EXPORTS}{in_parts}/")

    with pytest.raises(ObjectDoesNotExist):
        async_to_sync(read)()


def test_under_asgi_an_export_is_no_list_first(owner: Caller, in_parts: str) -> None:
    """Django warns of answers that it has to read whole before it sends them."""

    async def download() -> tuple[int, bytes]:
        path, key = f"{EXPORTS}{in_parts}/download/", {"Authorization": f"Token {owner.key}"}
        answer: Any = await AsyncClient().get(path, headers=key)
        return answer.status_code, b"".join([part async for part in answer])

    with warnings.catch_warnings():
        warnings.filterwarnings("error", message="StreamingHttpResponse must consume")
        status, body = async_to_sync(download)()
    assert (status, len(body.splitlines())) == (200, 5)


def test_an_unfinished_export_says_how_far_it_is(owner: Caller) -> None:
    answer = owner.post(EXPORTS, {"schema": {}})[1]
    status, progress = owner.post(f"{EXPORTS}get/", {"memory_export_id": answer["id"]})
    assert (status, progress["status"], progress["progress"]) == (202, "PENDING", 0.0)
    assert owner.get(f"{EXPORTS}{answer['id']}/download/")[0] == 409


def test_exports_are_the_tenants_own_and_can_be_deleted(owner: Caller, stranger: Caller, member: Caller) -> None:
    owner.add("Alice keeps bees")
    export_id, _ = exported(owner)
    path = f"{EXPORTS}{export_id}/"
    assert [stranger.get(path)[0], stranger.get(f"{path}download/")[0], stranger.delete(path)[0]] == [404] * 3
    assert stranger.post(f"{EXPORTS}get/", {})[0] == 404
    assert member.delete(path)[0] == 403
    assert owner.delete(path)[0] == 200
    assert owner.get(path)[0] == 404


def test_exports_of_erased_texts_are_dropped(owner: Caller) -> None:
    owner.add("Alice keeps bees")
    export_id, _ = exported(owner)
    owner.delete("/v2/entities/user/alice/")
    assert owner.get(f"{EXPORTS}{export_id}/")[0] == 404


@pytest.mark.parametrize(
    "body",
    [{}, {"schema": "{"}, {"schema": []}, {"schema": {}, "filters": {"userid": "x"}}, {"schema": {}, "user": "x"}],
)
def test_a_bad_export_is_400(owner: Caller, body: dict[str, Any]) -> None:
    assert owner.post(EXPORTS, body)[0] == 400
