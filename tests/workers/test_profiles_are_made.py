"""A model makes a user's profile of all their memories, through a real HTTP API; what it cannot make, the job says."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connection
from facts.models import Event, Fact, Profile
from facts.profiles import profiles_ask
from facts.scopes import Scopes
from facts.services import entity_erase, fact_delete
from jobs.models import Job, JobKind
from jobs.services import NewPart, job_create, job_retry, part_finish
from tenants.models import Tenant
from tenants.scope import tenant_scope
from tenants.services import project_settings_update

from tests.api.working import work
from tests.factories import People, add_facts
from tests.jobs.test_jobs_go_on import Killed, dies_at_call, let_runner_fall_silent
from tests.workers.chat_server import Body, ChatServer, Reply, refuses, says, statements_of, told
from workers import profiling
from workers.jobs import resume

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("broker")]
ALICE = Scopes(user_id="alice", run_id="monday")
SCHEMA = {"properties": {"job": {"type": "string", "description": "What they do"}}}


@pytest.fixture
def tenant(people: People) -> Any:
    with tenant_scope(people.tenant):
        yield people.tenant


def make(tenant: Tenant, *users: str) -> Job:
    """A job that makes their profiles, done."""
    users = users or ("alice",)
    profiles_ask(tenant=tenant, user_ids=users)
    parts = [NewPart(json.dumps({"user_id": user}), 1) for user in users]
    job = job_create(
        tenant=tenant, kind=JobKind.PROFILES, options={"operation": "trigger"}, actor="", parts=parts, total=len(users)
    )
    work()
    job.refresh_from_db()
    return job


def profile(user: str = "alice") -> tuple[str, str]:
    found = Profile.objects.get(user_id=user)
    return found.status, found.text


def test_all_that_is_remembered_of_the_user_is_told(chat_server: ChatServer, tenant: Tenant) -> None:
    add_facts(tenant, *(f"Alice keeps hive {number}." for number in range(250)))
    add_facts(tenant, "Alice sells honey.", scopes=ALICE)
    add_facts(tenant, "Bob drinks tea.", scopes=Scopes(user_id="bob"))
    chat_server.tell = lambda body: told("Alice keeps many hives and sells honey.")
    assert make(tenant).state == "SUCCEEDED"
    shown = [statement for body in chat_server.tells for statement in statements_of(body)]
    assert shown == [*(f"Alice keeps hive {number}." for number in range(250)), "Alice sells honey."]
    assert profile() == ("succeeded", "Alice keeps many hives and sells honey.")


def test_what_is_too_much_for_one_question_is_told_in_parts_and_then_as_one(
    chat_server: ChatServer, tenant: Tenant
) -> None:
    said = [f"Alice wrote letter {number} {'and one more ' * 60}." for number in range(12)]
    add_facts(tenant, *said)
    chat_server.tell = lambda body: told(f"Alice wrote {len(statements_of(body))} letters.")
    make(tenant)
    *parts, last = [statements_of(body) for body in chat_server.tells]
    assert [statement for part in parts for statement in part] == [" ".join(text.split()) for text in said]
    assert last == [f"Alice wrote {len(part)} letters." for part in parts]
    assert profile() == ("succeeded", f"Alice wrote {len(parts)} letters.")


@pytest.mark.parametrize(
    "too_much", [refuses(400, "the prompt is too long"), says('{"text": "', end="length")], ids=["prompt", "answer"]
)
def test_what_is_too_long_for_the_model_is_halved(chat_server: ChatServer, tenant: Tenant, too_much: Reply) -> None:
    add_facts(tenant, *(f"Alice keeps hive {number}." for number in range(8)))
    chat_server.tell = lambda body: told("Alice keeps hives.") if len(statements_of(body)) < 3 else too_much
    assert make(tenant).state == "SUCCEEDED"
    assert profile() == ("succeeded", "Alice keeps hives.")


def test_of_nothing_nothing_is_told_and_nobody_is_asked(chat_server: ChatServer, tenant: Tenant) -> None:
    (fact,) = add_facts(tenant, "Alice keeps bees.", scopes=ALICE)
    make(tenant)
    fact_delete(fact=fact)
    asked = len(chat_server.tells)
    assert make(tenant, "alice", "nobody").state == "SUCCEEDED"
    assert (profile(), profile("nobody")) == (("insufficient_data", ""), ("insufficient_data", ""))
    assert len(chat_server.tells) == asked


def test_sentences_that_no_memory_says_are_left_out(chat_server: ChatServer, tenant: Tenant) -> None:
    add_facts(tenant, "Alice keeps bees.", scopes=ALICE)
    chat_server.tell = lambda body: told("Alice keeps bees. John Smith owns a bakery in Vermont! She loves bees.")
    make(tenant)
    assert profile() == ("succeeded", "Alice keeps bees. She loves bees.")


def test_the_projects_instructions_and_schema_are_kept(chat_server: ChatServer, tenant: Tenant) -> None:
    changes = {"profile_schema": SCHEMA, "profile_instructions": "Be formal."}
    project_settings_update(tenant=tenant, changes=changes, actor="test")
    add_facts(tenant, "Alice is a beekeeper.", scopes=ALICE)
    chat_server.tell = lambda body: says({"job": "beekeeper"})
    make(tenant)
    (body,) = chat_server.tells
    schema = body["response_format"]["json_schema"]["schema"]
    assert (schema["type"], schema["properties"], schema["required"]) == ("object", SCHEMA["properties"], ["job"])
    assert "Be formal." in body["messages"][0]["content"]
    status, text = profile()
    assert (status, json.loads(text)) == ("succeeded", {"job": "beekeeper"})


@pytest.mark.parametrize(
    ("tell", "reason"),
    [
        (lambda body: refuses(401, "no such key"), "no such key"),
        (lambda body: refuses(500, "out of memory"), "out of memory"),
        (lambda body: refuses(503, "not now"), "503"),
        (lambda body: (0, None), "broke off"),
        (lambda body: says("no JSON"), "no JSON"),
        (lambda body: says({"word": 7}), "says nothing"),
        (lambda body: told("John Smith owns a bakery."), "says nothing"),
    ],
    ids=["refused", "broken", "away", "broken off", "no JSON", "no text", "made up"],
)
def test_a_model_that_fails_leaves_the_reason_and_the_earlier_profile(
    chat_server: ChatServer, tenant: Tenant, tell: Callable[[Body], Reply], reason: str
) -> None:
    add_facts(tenant, "Alice keeps bees.", scopes=ALICE)
    make(tenant)
    chat_server.tell = tell
    job = make(tenant)
    event = Event.objects.get(pk=job.event_id)
    assert (job.state, event.status, profile()) == ("FAILED", "FAILED", ("failed", "Alice keeps bees."))
    assert all(reason in said for said in (job.error, event.error, Profile.objects.get().error))
    assert (job.done, job.refused) == (1, 1)


def test_one_that_fails_leaves_the_others(chat_server: ChatServer, tenant: Tenant) -> None:
    for user in ("alice", "bob", "carol"):
        add_facts(tenant, f"{user} keeps bees.", scopes=Scopes(user_id=user))
    chat_server.tell = lambda body: refuses(400) if "bob" in str(body) else told(" ".join(statements_of(body)))
    job = make(tenant, "alice", "bob", "carol")
    assert [profile(user)[0] for user in ("alice", "bob", "carol")] == ["succeeded", "failed", "succeeded"]
    assert "1 of 3" in job.error


def test_a_job_that_goes_on_makes_those_that_failed_and_no_other(chat_server: ChatServer, tenant: Tenant) -> None:
    for user in ("alice", "bob", "carol"):
        add_facts(tenant, f"{user} keeps bees.", scopes=Scopes(user_id=user))
    chat_server.tell = lambda body: refuses(400) if "alice" not in str(body) else told("alice keeps bees.")
    job = make(tenant, "alice", "bob", "carol", "nobody")
    assert (job.state, job.done, job.refused) == ("FAILED", 4, 3)
    asked = len(chat_server.tells)

    chat_server.tell = lambda body: refuses(400) if "carol" in str(body) else told(" ".join(statements_of(body)))
    assert job_retry(job=job)
    job.refresh_from_db()
    assert (job.done, job.refused) == (2, 1)
    work()
    job.refresh_from_db()
    assert [profile(user) for user in ("alice", "bob")] == [
        ("succeeded", f"{user} keeps bees.") for user in ("alice", "bob")
    ]
    assert (job.state, job.done, job.refused, "1 of 4" in job.error) == ("FAILED", 4, 2, True)
    assert not any("alice" in str(body) for body in chat_server.tells[asked:])

    chat_server.tell = lambda body: told(" ".join(statements_of(body)))
    assert job_retry(job=job)
    work()
    job.refresh_from_db()
    assert profile("carol") == ("succeeded", "carol keeps bees.")
    assert (job.state, job.done, job.refused, job.error) == ("SUCCEEDED", 4, 1, "")
    assert Event.objects.get(pk=job.event_id).status == "SUCCEEDED"


def test_who_takes_a_job_over_knows_what_failed_before(
    chat_server: ChatServer, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    for user in ("alice", "bob"):
        add_facts(tenant, f"{user} keeps bees.", scopes=Scopes(user_id=user))
    chat_server.tell = lambda body: refuses(401, "no such key")
    with monkeypatch.context() as patch:
        patch.setattr(profiling, "part_finish", dies_at_call(1, part_finish))
        with pytest.raises(Killed):
            make(tenant, "alice", "nobody", "bob")
    let_runner_fall_silent(tenant)
    chat_server.tell = lambda body: told(" ".join(statements_of(body)))
    resume()
    work()
    job = Job.objects.get()
    assert (job.state, job.done, "1 of 3" in job.error, "no such key" in job.error) == ("FAILED", 3, True, True)
    assert (profile("alice")[0], profile("bob")[0]) == ("failed", "succeeded")


def test_a_useless_answer_is_asked_for_once_more(chat_server: ChatServer, tenant: Tenant) -> None:
    add_facts(tenant, "Alice keeps bees.", scopes=ALICE)
    answers = iter([says("no JSON"), told("Alice keeps bees.")])
    chat_server.tell = lambda body: next(answers)
    assert make(tenant).state == "SUCCEEDED"
    assert [body["temperature"] for body in chat_server.tells] == [0.0, 0.5]


def test_what_is_deleted_while_it_is_told_is_told_again_without_it(chat_server: ChatServer, tenant: Tenant) -> None:
    bees, _ = add_facts(tenant, "Alice keeps bees.", "Alice drinks tea.", scopes=ALICE)

    def delete(body: Body) -> Reply:
        if Fact.objects.filter(pk=bees.pk, status="active").exists():
            fact_delete(fact=bees)
        return told(" ".join(statements_of(body)))

    chat_server.tell = elsewhere(tenant, delete)
    make(tenant)
    assert profile() == ("succeeded", "Alice drinks tea.")


def test_a_user_who_is_erased_while_being_told_of_has_no_profile(chat_server: ChatServer, tenant: Tenant) -> None:
    add_facts(tenant, "Alice keeps bees.", scopes=ALICE)

    def erase(body: Body) -> Reply:
        entity_erase(tenant=tenant, kind="user", name="alice")
        return told("Alice keeps bees.")

    chat_server.tell = elsewhere(tenant, erase)
    make(tenant)
    assert not Profile.objects.exists()


def elsewhere(tenant: Tenant, tell: Callable[[Body], Reply]) -> Callable[[Body], Reply]:
    """In the server's thread, with a connection of its own."""

    def answer(body: Body) -> Reply:
        with tenant_scope(tenant):
            try:
                return tell(body)
            finally:
                connection.close()

    return answer
