"""`memory.write`: what the user said and what was answered become turns and a job, once, after the answer."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Barrier
from typing import Any
from uuid import UUID

import pytest
from django.db import connection
from facts.models import Event, Extraction, Turn
from facts.scopes import Scopes
from facts.services import entity_erase
from tenants.models import Tenant
from tenants.scope import every_tenant
from tenants.services import project_settings_update, quota_set, tenant_close, tenant_create

from inference.gateway import threads
from inference.gateway.middleware import Gateway
from inference.gateway.records import RecordWriter
from inference.gateway.runtime import Runtime
from inference.gateway.spool import Spool
from inference.gateway.writeback import WriteBack
from tests.factories import add_facts
from tests.gateway.echo import Client, Received, echo
from tests.gateway.helpers import chat_key_of, close_connections

pytestmark = pytest.mark.django_db(transaction=True)
WRITE = {"user_id": "ann", "run_id": "r", "write": True}
SAID = {"model": "m", "messages": [{"role": "user", "content": "I am Ann. I keep bees."}], "memory": WRITE}
Ask = Callable[..., Received]


@pytest.fixture
def tenant() -> Tenant:
    return tenant_create(name="Home")


@pytest.fixture
def writes(tmp_path: Path) -> Iterator[WriteBack]:
    writes = WriteBack(tmp_path, retry_seconds=0.05)
    yield writes
    writes.close()


@pytest.fixture
def gateway(runtime: Runtime, writes: WriteBack) -> Iterator[Gateway]:
    gateway = Gateway(echo)
    gateway.service._runtime, gateway.service._records = runtime, RecordWriter()
    gateway.service._writes = writes
    yield gateway
    gateway.service._records.close()
    writes.close()
    close_connections()


@pytest.fixture
def ask(gateway: Gateway, tenant: Tenant) -> Ask:
    with every_tenant():
        key = chat_key_of(tenant)

    def send(*, key: str = key, name: str = "", **body: Any) -> Received:
        headers = [("x-request-id", name)] if name else []
        chat = Client(gateway).send("POST", "/v1/chat/completions", {**SAID, **body}, key=key, headers=headers)
        return asyncio.run(chat)

    return send


@contextmanager
def database_away_from_writes(ask: Ask, writes: WriteBack, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A chat is answered, for all threads are connected; to who connects after that the database is away."""
    meeting = Barrier(threads.THREADS)
    for connected in [threads._pool.submit(_connect, meeting) for _ in range(threads.THREADS)]:
        connected.result()
    with monkeypatch.context() as patch:
        patch.setitem(connection.settings_dict, "NAME", "absent")
        assert ask().status == 200
        writes.close()
        yield


def _connect(meeting: Barrier) -> None:
    connection.ensure_connection()
    meeting.wait(20)


def stored(writes: WriteBack) -> list[tuple[str, str]]:
    """Roles and texts of all turns, once all is written."""
    writes.close()
    with every_tenant():
        return list(Turn.objects.order_by("occurred_at", "created_at").values_list("role", "content"))


def test_the_new_turns_and_the_answer_leave_a_job(ask: Ask, writes: WriteBack, tenant: Tenant) -> None:
    with every_tenant():
        project_settings_update(
            tenant=tenant,
            changes={"custom_instructions": "Only hobbies.", "custom_categories": [{"bees": "all of them"}]},
            actor="test",
        )
    answer = ask()
    assert stored(writes) == [("user", "I am Ann. I keep bees."), ("assistant", "Hello, Ann.")]
    with every_tenant():
        extraction = Extraction.objects.select_related("event", "owner").get()
    assert extraction.pk == UUID(answer.headers["x-inferscale-write"])
    assert (extraction.event.event_type, extraction.event.status) == ("ADD", "PENDING")
    assert extraction.scopes == Scopes(user_id="ann", run_id="r")
    assert (extraction.owner.name, extraction.instructions) == ("ann", "Only hobbies.")
    assert extraction.known_categories == {"bees": "all of them"}
    assert extraction.actor.startswith("key:isk_")
    assert "memory" not in answer.json["body"]


def test_a_streamed_answer_is_put_together(ask: Ask, writes: WriteBack) -> None:
    assert ask(stream=True).body.endswith(b"data: [DONE]\n\n")
    assert stored(writes)[-1] == ("assistant", 'Hel"usage":{')


def test_only_when_it_is_asked_for(ask: Ask, writes: WriteBack) -> None:
    assert "x-inferscale-write" not in ask(memory={**WRITE, "write": False}).headers
    ask(memory={"user_id": "ann"})
    ask(memory=None, user="ann")
    assert stored(writes) == []


def test_who_leaves_after_the_answers_end_is_remembered_and_before_it_not(ask: Ask, writes: WriteBack) -> None:
    ask(stream=True, leave_after=1)
    ask(stream=True, leave_after=2, messages=[{"role": "user", "content": "I have two hives."}])
    assert stored(writes) == [("user", "I have two hives."), ("assistant", 'Hel"usage":{')]


@pytest.mark.parametrize("say", [{"finish_reason": None}, {"message": {"content": None, "tool_calls": [{}]}}], ids=str)
def test_what_is_no_answer_is_not_remembered(ask: Ask, writes: WriteBack, say: dict[str, Any]) -> None:
    ask(say=say)
    assert stored(writes) == []


def test_a_request_sent_again_is_remembered_once(ask: Ask, writes: WriteBack) -> None:
    first, again = (ask(name="r1", say={"message": {"content": text}}) for text in ("Hello!", "Hi!"))
    assert first.headers["x-inferscale-write"] == again.headers["x-inferscale-write"]
    ask(name="r1", messages=[{"role": "user", "content": "I have two hives."}])
    assert stored(writes) == [
        ("user", "I am Ann. I keep bees."),
        ("assistant", "Hello!"),
        ("user", "I have two hives."),
        ("assistant", "Hello, Ann."),
    ]


def test_a_key_that_may_not_write_is_told_before_anything_is_generated(ask: Ask, tenant: Tenant) -> None:
    with every_tenant():
        reader = chat_key_of(tenant, scopes=["read", "chat"])
    answer = ask(key=reader)
    assert (answer.status, answer.json["error"]["code"]) == (403, "missing_scope")
    assert answer.json["error"]["param"] == "memory.write"
    assert ask(key=reader, memory={"user_id": "ann"}).status == 200


def test_a_quota_that_is_used_up_is_told_before_anything_is_generated(ask: Ask, tenant: Tenant) -> None:
    with every_tenant():
        add_facts(tenant, "Ann keeps bees.")
        quota_set(tenant=tenant, limits={"facts": 1}, actor="test")
    answer = ask()
    assert (answer.status, answer.json["error"]["code"]) == (429, "insufficient_quota")
    assert ask(memory={"user_id": "ann"}).status == 200


@pytest.mark.parametrize(
    ("body", "param"),
    [
        ({"memory": {**WRITE, "write": "yes"}}, "memory.write"),
        ({"memory": {**WRITE, "mode": "off"}}, "memory.write"),
        ({"n": 2}, "n"),
    ],
)
def test_what_cannot_be_remembered_is_refused(ask: Ask, body: dict[str, Any], param: str) -> None:
    answer = ask(**body)
    assert (answer.status, answer.json["error"]["param"]) == (400, param)


def test_nothing_is_lost_while_the_database_is_away(
    ask: Ask, writes: WriteBack, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database_away_from_writes(ask, writes, monkeypatch):
        assert len(list(tmp_path.glob("*.json"))) == 1
    assert stored(WriteBack(tmp_path)) == [("user", "I am Ann. I keep bees."), ("assistant", "Hello, Ann.")]
    assert list(tmp_path.iterdir()) == []


def test_what_was_said_before_its_owner_was_erased_is_not_stored_after(
    ask: Ask, writes: WriteBack, tenant: Tenant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with every_tenant():
        add_facts(tenant, "Ann keeps bees.", scopes=Scopes(user_id="ann"))
    with database_away_from_writes(ask, writes, monkeypatch):
        pass
    entity_erase(tenant=tenant, kind="user", name="ann", actor="test")
    assert stored(WriteBack(tmp_path)) == []
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_stored_for_a_tenant_that_was_closed_meanwhile(
    ask: Ask, writes: WriteBack, tenant: Tenant, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with database_away_from_writes(ask, writes, monkeypatch):
        pass
    tenant_close(tenant=tenant, actor="test")
    assert stored(WriteBack(tmp_path)) == []
    with every_tenant():
        assert not Event.objects.exists()


def test_what_can_never_be_stored_is_laid_aside_and_holds_up_nothing(ask: Ask, tmp_path: Path) -> None:
    (tmp_path / "0.json").write_text("{")
    writes = WriteBack(tmp_path)
    ask()
    assert len(stored(writes)) == 2
    assert [path.name for path in tmp_path.iterdir()] == ["0.refused"]


def test_a_database_of_another_version_is_waited_for(ask: Ask, writes: WriteBack, tmp_path: Path) -> None:
    """As while it is migrated: what it does not know now it may know then."""
    with connection.cursor() as cursor:
        cursor.execute("ALTER TABLE facts_turn RENAME COLUMN content TO words_said")
    try:
        assert ask().status == 200
        writes.close()
        assert [path.suffix for path in tmp_path.iterdir()] == [".json"]
    finally:
        with connection.cursor() as cursor:
            cursor.execute("ALTER TABLE facts_turn RENAME COLUMN words_said TO content")
    assert len(stored(WriteBack(tmp_path))) == 2


def test_two_that_cannot_store_a_file_lay_it_aside_once(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    path = spool.put("0", b"{")
    for _ in range(2):
        spool.refuse(path)
    assert [path.name for path in tmp_path.iterdir()] == ["0.refused"]


def test_a_folder_that_cannot_be_read_for_a_while_stops_nothing(
    ask: Ask, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = iter([OSError("stale file handle")])
    waiting = Spool.waiting

    def broken_once(spool: Spool) -> Any:
        if error := next(looks, None):
            raise error
        return waiting(spool)

    monkeypatch.setattr(Spool, "waiting", broken_once)
    Spool(tmp_path).put("0", b"{")
    writes = WriteBack(tmp_path, retry_seconds=0.05)
    deadline = time.monotonic() + 20
    while list(tmp_path.glob("*.json")) and time.monotonic() < deadline:
        time.sleep(0.05)
    writes.close()
    assert [path.name for path in tmp_path.iterdir()] == ["0.refused"]
