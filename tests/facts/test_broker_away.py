"""An unreachable broker neither fails nor holds up a write; beat finds what is left to do."""

import socket
import time
from collections.abc import Iterator
from datetime import timedelta

import pytest
from config.celery import app
from facts.enqueue import enqueue
from facts.models import Fact
from facts.selectors import encodings_unfinished
from facts.services import fact_delete
from tenants.models import Tenant
from tenants.scope import tenant_scope

from tests.factories import FINGERPRINT, STRATEGY, People, add_facts

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(params=["closed", "silent"])
def broker_away(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A port on which nobody listens, or one that accepts and never answers."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        if request.param == "closed":
            server.close()
        monkeypatch.setattr(app.conf, "broker_url", f"redis://127.0.0.1:{port}/0")
        yield


def test_facts_are_stored_and_deleted_at_once(people: People, broker_away: None) -> None:
    add_facts(people.tenant, "warm the embedder up")
    started = time.monotonic()
    with tenant_scope(people.tenant):
        facts = add_facts(people.tenant, *[f"Fact {number}." for number in range(20)])
        fact_delete(fact=facts[0])
        assert Fact.objects.filter(status="active").count() == 20
    assert time.monotonic() - started < 3


def test_only_the_first_task_waits(broker_away: None) -> None:
    started = time.monotonic()
    assert not enqueue("workers.encode.encode_fact", "tenant", "fact")
    assert time.monotonic() - started < 1
    started = time.monotonic()
    assert not any(enqueue("workers.encode.encode_fact", "tenant", "fact") for _ in range(100))
    assert time.monotonic() - started < 0.1


def test_what_was_not_sent_is_found_as_unfinished(people: People, broker_away: None) -> None:
    tenant: Tenant = people.tenant
    fact = add_facts(tenant, "Likes tea.")[0]
    found = encodings_unfinished(
        tenant=tenant, fingerprint=FINGERPRINT, strategies=[STRATEGY], older_than=timedelta(seconds=0)
    )
    assert found == [fact.pk]
