"""An attempt ends in time, whatever the receiver does, and the log says why."""

import socket
import time
from contextlib import AbstractContextManager
from typing import Any

import pytest
from django.utils import timezone
from tenants.scope import tenant_scope
from webhooks import sending
from webhooks.models import Delivery
from webhooks.sending import Attempt, send
from webhooks.services import webhook_create
from webhooks.signing import new_secret

from tests.api.working import work
from tests.factories import People, add_facts
from tests.webhooks.receiver import Receiver
from tests.webhooks.stalling import dripping, full

TIME = 0.5
LATE = Attempt(None, "no answer within 0.5 s")


@pytest.fixture(autouse=True)
def little_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sending, "SECONDS_TO_WAIT", TIME)


def attempt(url: str) -> Attempt:
    """Asserts that it takes little longer than it may."""
    started = time.monotonic()
    made = send(url=url, secret=new_secret(), message_id="m", payload={"text": "x" * 10_000}, private=True)
    assert time.monotonic() - started < TIME + 5
    return made


@pytest.mark.parametrize(
    "server",
    [
        dripping(b""),
        dripping(b"HTTP/1.1 200 OK\r\nX-Long: ", b"a"),
        dripping(b"HTTP/1.1 200 OK\r\n", b"X-More: a\r\n"),
        dripping(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n"),
        dripping(b"", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 1000, pause=0.0),
        full(),
    ],
    ids=["silence", "an endless header", "endless headers", "endless 1xx", "a flood of 1xx", "no connection"],
)
def test_a_receiver_cannot_hold_an_attempt(server: AbstractContextManager[str]) -> None:
    with server as url:
        assert attempt(url) == LATE


def test_a_name_that_is_not_found_in_time_is_let_go(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(*args: object, **kwargs: object) -> Any:
        time.sleep(TIME + 1)
        raise OSError("no name server answers")

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    started = time.monotonic()
    assert attempt("https://hook.example/") == LATE
    assert time.monotonic() - started < TIME + 1


def test_an_answers_body_is_not_waited_for() -> None:
    with dripping(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n", b"1\r\na\r\n") as url:
        assert attempt(url) == Attempt(200, "")


def test_it_is_a_failed_attempt_like_others(people: People, receiver: Receiver) -> None:
    with dripping(b"HTTP/1.1 200 OK\r\nX-Long: ", b"a") as url:
        webhook_create(tenant=people.tenant, url=url, name="hook", event_types=["memory_add"], actor="test")
        add_facts(people.tenant, "Ann has a cat.")
        work()
    with tenant_scope(people.tenant):
        delivery = Delivery.objects.get()
    assert (delivery.state, delivery.attempts, delivery.status, delivery.error) == ("pending", 1, None, LATE.error)
    assert delivery.next_at > timezone.now()
