"""The model writes the summary that a call asked for; until then, and while it fails, the call lists the newest."""

from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from facts.models import Summary
from facts.services import fact_delete
from jobs.models import Job
from tenants.models import Tenant
from tenants.scope import tenant_scope
from tenants.services import api_key_create

from tests.api.conftest import Caller
from tests.api.working import work
from tests.factories import People, add_facts
from tests.workers.chat_server import Body, ChatServer, Reply, refuses, statements_of, told

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("broker")]
OF_ALICE = {"filters": {"user_id": "alice"}}
MADE = "Alice keeps bees and plays the cello."


@pytest.fixture
def tenant(people: People) -> Any:
    with tenant_scope(people.tenant):
        yield people.tenant


@pytest.fixture
def caller(tenant: Tenant) -> Caller:
    return Caller(api_key_create(tenant=tenant, name="app")[1])


def asked(caller: Caller, body: dict[str, Any] = OF_ALICE) -> tuple[str, str]:
    status, answer = caller.post("/v1/summary/", body)
    assert status == 200, answer
    return answer["status"], answer["summary"]


def test_it_is_written_once_and_answered_until_memory_changes(
    chat_server: ChatServer, tenant: Tenant, caller: Caller
) -> None:
    add_facts(tenant, "Alice keeps bees.", "Alice plays the cello.")
    chat_server.tell = lambda body: told(MADE)
    lines = "- Alice plays the cello.\n- Alice keeps bees."
    assert asked(caller) == asked(caller) == ("pending", lines)
    work()
    assert asked(caller) == asked(caller) == ("succeeded", MADE)
    work()
    assert [statements_of(body) for body in chat_server.tells] == [["Alice keeps bees.", "Alice plays the cello."]]
    add_facts(tenant, "Alice plays the harp.")
    assert asked(caller) == ("pending", MADE)
    chat_server.tell = lambda body: told("Alice plays the harp, too.")
    work()
    assert asked(caller) == ("succeeded", "Alice plays the harp, too.")
    assert Summary.objects.count() == 1


def test_other_filters_and_other_tenants_have_others(
    chat_server: ChatServer, people: People, tenant: Tenant, caller: Caller
) -> None:
    add_facts(tenant, "Alice keeps bees.", "Alice plays the cello.")
    with tenant_scope(people.other_tenant):
        add_facts(people.other_tenant, "Alice sells goats.")
        stranger = Caller(api_key_create(tenant=people.other_tenant, name="app")[1])
    of_bees = {"filters": {"AND": [{"user_id": "alice"}, {"keywords": "bees"}]}}
    questions = ((caller, OF_ALICE), (caller, of_bees), (stranger, OF_ALICE))
    for who, body in questions:
        asked(who, body)
    work()
    assert [asked(who, body)[1] for who, body in questions] == [
        "Alice keeps bees. Alice plays the cello.",
        "Alice keeps bees.",
        "Alice sells goats.",
    ]


def test_of_nothing_nothing_is_told_and_nobody_is_asked(chat_server: ChatServer, caller: Caller) -> None:
    assert asked(caller) == ("insufficient_data", "")
    assert (work(), chat_server.tells, Job.objects.count()) == ([], [], 0)


def test_a_model_that_fails_leaves_the_reason_and_the_earlier_summary(
    chat_server: ChatServer, tenant: Tenant, caller: Caller
) -> None:
    add_facts(tenant, "Alice keeps bees.")
    asked(caller)
    work()
    add_facts(tenant, "Alice plays the cello.")
    chat_server.tell = lambda body: refuses(401, "no such key")
    asked(caller)
    work()
    assert asked(caller) == ("failed", "Alice keeps bees.")
    job = Job.objects.order_by("created_at").last()
    assert job is not None
    assert (job.state, "no such key" in job.error) == ("FAILED", True)
    assert "no such key" in caller.get(f"/v1/event/{job.event_id}/")[1]["error"]
    assert "no such key" in caller.post("/v1/summary/", OF_ALICE)[1]["error"]
    assert work() == []


@pytest.mark.parametrize("during", [False, True])
def test_what_a_deleted_memory_said_is_in_no_summary(
    chat_server: ChatServer, tenant: Tenant, caller: Caller, during: bool
) -> None:
    bees, _ = add_facts(tenant, "Alice keeps bees.", "Alice plays the cello.")
    chat_server.tell = deleting(tenant, lambda: fact_delete(fact=bees)) if during else lambda body: told(MADE)
    asked(caller)
    work()
    if not during:
        fact_delete(fact=bees)
    assert asked(caller) == ("pending", "- Alice plays the cello.")
    chat_server.tell = lambda body: told("Alice plays the cello.")
    work()
    assert asked(caller) == ("succeeded", "Alice plays the cello.")


def deleting(tenant: Tenant, delete: Callable[[], None]) -> Callable[[Body], Reply]:
    """In the server's thread, with a connection of its own."""

    def answer(body: Body) -> Reply:
        with tenant_scope(tenant):
            try:
                delete()
            finally:
                connection.close()
        return told(MADE)

    return answer
