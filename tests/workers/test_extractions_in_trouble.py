"""A job that cannot find facts says why, is tried again where that may help, and loses nothing."""

from datetime import timedelta
from threading import Event as Signal
from threading import Thread
from typing import Any

import pytest
import redis
from django.db import connection
from django.utils import timezone
from facts.enqueue import EXTRACT_FACTS
from facts.exclusive import alone_with
from facts.models import Extraction, Fact
from facts.selectors import extractions_unfinished
from facts.services import extraction_retry
from tenants.models import Tenant
from tenants.scope import tenant_scope

from tests.workers.chat_server import Body, ChatServer, Reply, found, refuses, says
from tests.workers.extracting import ask, find, run, texts
from tests.workers.helpers import finished, tasks_in
from tests.workers.troubled_engine import free_port
from workers.attempts import MAX_FAILURES, MAX_RETRIES
from workers.encode import sweep


def bees(body: Body) -> Reply:
    return found(("Ana keeps bees.", 1))


def test_a_model_that_is_away_leaves_the_job_waiting_and_the_event_says_it(
    chat_server: ChatServer, tenant: Tenant, settings: Any
) -> None:
    chat_server.find = bees
    url = settings.ENV.extractor_url
    settings.ENV = settings.ENV.model_copy(update={"extractor_url": f"http://127.0.0.1:{free_port()}/v1"})
    event = find(tenant, "Ana keeps bees.")
    assert (event.status, event.completed_at) == ("PENDING", None)
    assert event.error.startswith("no model at http://127.0.0.1:")
    assert Extraction.objects.get().attempts == MAX_RETRIES + 1
    settings.ENV = settings.ENV.model_copy(update={"extractor_url": url})
    event = run(tenant, event)
    assert (event.status, event.error, texts()) == ("SUCCEEDED", "", ["Ana keeps bees."])


@pytest.mark.parametrize("status", [429, 502, 503])
def test_a_busy_api_is_asked_again(chat_server: ChatServer, tenant: Tenant, status: int) -> None:
    chat_server.find = lambda body: bees(body) if len(chat_server.finds) > 2 else refuses(status, "busy")
    assert find(tenant, "Ana keeps bees.").status == "SUCCEEDED"
    assert len(chat_server.finds) == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
def test_a_refusal_fails_the_job_at_once_with_its_reason(chat_server: ChatServer, tenant: Tenant, status: int) -> None:
    chat_server.find = lambda body: refuses(status, "not with this key")
    event = find(tenant, "Ana keeps bees.")
    assert event.status == "FAILED"
    assert event.error == f"the model's API refuses the request, {status}: not with this key"
    assert event.completed_at
    assert len(chat_server.finds) == 1


USELESS: dict[str, Reply] = {
    "a broken connection": (0, {}),
    "an error": refuses(500, "out of memory"),
    "no JSON in the message": says("I think Ana keeps bees."),
    "a list": says([]),
    "no list of facts": says({"facts": "Ana keeps bees."}),
    "no text": says(None),
    "no message": (200, {"choices": []}),
    "no choices": (200, {"error": "?"}),
    "an end too soon": says('{"facts": [', end="length"),
    "deep JSON": says("[" * 100_000),
}


@pytest.mark.parametrize("reply", USELESS.values(), ids=USELESS.keys())
def test_useless_answers_are_asked_for_again_and_then_given_up(
    chat_server: ChatServer, tenant: Tenant, reply: Reply
) -> None:
    chat_server.find = lambda body: reply
    event = find(tenant, "Ana keeps bees.")
    assert event.status == "FAILED"
    assert event.error.startswith(f"failed {MAX_FAILURES} times: the model")
    assert len(chat_server.finds) == MAX_FAILURES
    temperatures = [body["temperature"] for body in chat_server.finds]
    assert temperatures[0] == 0
    assert all(temperatures[1:])
    assert not Fact.objects.exists()


@pytest.mark.parametrize("reply", [(200, b"<html>"), (200, b"[1]"), (200, b"")], ids=["page", "list", "nothing"])
def test_what_is_no_chat_api_is_waited_for(chat_server: ChatServer, tenant: Tenant, reply: Reply) -> None:
    chat_server.find = lambda body: reply
    event = find(tenant, "Ana keeps bees.")
    assert (event.status, "is no chat API" in event.error) == ("PENDING", True)


def test_an_answer_of_use_after_useless_ones_counts(chat_server: ChatServer, tenant: Tenant) -> None:
    chat_server.find = lambda body: bees(body) if len(chat_server.finds) > 2 else says("no JSON")
    event = find(tenant, "Ana keeps bees.")
    assert (event.status, event.error, texts()) == ("SUCCEEDED", "", ["Ana keeps bees."])


@pytest.mark.parametrize(
    "facts", [[None], [7], [{}], [{"text": None}], [{"text": 7}], [{"text": "Ana keeps bees.", "turn": "x"}], [["a"]]]
)
def test_what_is_no_fact_is_left_out(chat_server: ChatServer, tenant: Tenant, facts: list[Any]) -> None:
    chat_server.find = lambda body: says({"facts": [*facts, {"text": "Ana keeps bees.", "turn": 99}]})
    assert find(tenant, "Ana keeps bees.").status == "SUCCEEDED"
    assert texts() == ["Ana keeps bees."]


def test_a_failed_job_that_is_tried_again_succeeds(chat_server: ChatServer, tenant: Tenant) -> None:
    chat_server.find = lambda body: refuses(401)
    event = find(tenant, "Ana keeps bees.")
    chat_server.find = bees
    assert run(tenant, event).status == "FAILED", "a task that comes late does not try again"
    extraction_retry(tenant=tenant, event=event)
    event = run(tenant, event)
    assert (event.status, texts()) == ("SUCCEEDED", ["Ana keeps bees."])


def test_a_task_that_comes_twice_stores_nothing_twice(chat_server: ChatServer, tenant: Tenant) -> None:
    chat_server.find = bees
    event = find(tenant, "Ana keeps bees.")
    run(tenant, event)
    assert (len(chat_server.finds), Fact.objects.count()) == (1, 1)


def test_an_error_of_ours_ends_the_job(chat_server: ChatServer, tenant: Tenant, monkeypatch: Any) -> None:
    monkeypatch.setattr("workers.extractor.pairs_unsure", None)
    chat_server.find = bees
    event = ask(tenant, "Ana keeps bees.")
    with pytest.raises(TypeError):
        run(tenant, event)
    event.refresh_from_db()
    assert (event.status, event.error) == ("FAILED", "an error of this server: TypeError")


@pytest.mark.django_db(transaction=True)
def test_a_job_is_sent_when_the_call_is_committed(tenant: Tenant, broker: redis.Redis) -> None:
    event = ask(tenant, "Ana keeps bees.")
    assert tasks_in(broker, "extract") == [(EXTRACT_FACTS, [str(tenant.pk), str(event.pk)])]


@pytest.mark.django_db(transaction=True)
def test_beat_finds_jobs_that_were_lost(tenant: Tenant, broker: redis.Redis) -> None:
    event = ask(tenant, "Ana keeps bees.")
    broker.flushdb()
    assert extractions_unfinished(tenant=tenant) == []
    Extraction.objects.update(updated_at=timezone.now() - timedelta(minutes=3))
    finished(sweep)
    assert tasks_in(broker, "extract") == [(EXTRACT_FACTS, [str(tenant.pk), str(event.pk)])]


def test_a_running_job_is_lost_only_after_long_silence(chat_server: ChatServer, tenant: Tenant) -> None:
    event = ask(tenant, "Ana keeps bees.")
    type(event).objects.update(status="RUNNING")
    Extraction.objects.update(updated_at=timezone.now() - timedelta(minutes=3))
    assert extractions_unfinished(tenant=tenant) == []
    Extraction.objects.update(updated_at=timezone.now() - timedelta(minutes=16))
    assert extractions_unfinished(tenant=tenant) == [event.pk]
    chat_server.find = bees
    assert run(tenant, event).status == "SUCCEEDED"
    assert extractions_unfinished(tenant=tenant) == []


@pytest.mark.django_db(transaction=True)
def test_two_workers_do_not_do_one_job_at_once(chat_server: ChatServer, tenant: Tenant) -> None:
    chat_server.find = bees
    event = ask(tenant, "Ana keeps bees.")
    inside, leave = Signal(), Signal()

    def other_worker() -> None:
        with tenant_scope(tenant), alone_with(event.pk) as is_alone:
            assert is_alone
            inside.set()
            leave.wait(60)
        connection.close()

    thread = Thread(target=other_worker)
    thread.start()
    assert inside.wait(60)
    assert run(tenant, event).status == "PENDING"
    assert chat_server.finds == []
    leave.set()
    thread.join()
    assert run(tenant, event).status == "SUCCEEDED"
