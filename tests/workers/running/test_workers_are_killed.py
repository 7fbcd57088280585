"""A worker killed while a fact is encoded: it is done again, by whoever finds it."""

from collections.abc import Iterator

import pytest
import redis
from facts.models import Encoding, Fact
from tenants.models import Tenant

from memory.store import BlobStore
from tests.factories import add_facts
from tests.workers.helpers import encoding_of, finished
from tests.workers.running.processes import Processes, until
from workers.encode import sweep

pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True)]


@pytest.fixture
def fact(processes: Processes, tenant: Tenant) -> Iterator[Fact]:
    """The engine has just been asked for it and does not answer."""
    processes.start_engine()
    processes.pause_engine()
    (fact,) = add_facts(tenant, "Bob lives in Lisbon.")
    until(lambda: Encoding.objects.filter(fact=fact, state="pending").exists(), "a worker has begun")
    yield fact
    processes.resume_engine()


def is_ready(fact: Fact) -> bool:
    return Encoding.objects.filter(fact=fact, state="ready").exists()


def test_the_task_of_a_killed_process_is_given_to_another(processes: Processes, store: BlobStore, fact: Fact) -> None:
    processes.kill_task_processes()
    until(lambda: encoding_of(fact).attempts == 2, "another process has begun")
    processes.resume_engine()
    until(lambda: is_ready(fact), "it is encoded")
    assert store.verify(encoding_of(fact).key)


def test_beat_finds_the_fact_when_worker_and_broker_are_lost(
    processes: Processes, store: BlobStore, broker: redis.Redis, fact: Fact
) -> None:
    processes.kill_worker()
    broker.flushdb()
    processes.resume_engine()
    processes.start_worker()
    assert not is_ready(fact)
    Encoding.objects.update(updated_at="2020-01-01T00:00Z")
    Fact.objects.update(updated_at="2020-01-01T00:00Z")
    finished(sweep)
    until(lambda: is_ready(fact), "it is encoded")
    assert store.verify(encoding_of(fact).key)
