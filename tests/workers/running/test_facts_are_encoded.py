"""Postgres, broker, worker and engine as they are: what is stored is encoded, what is deleted leaves no KV."""

import os

import pytest
from facts.models import Encoding, Fact
from facts.services import fact_delete
from tenants.models import Tenant

from memory.digest import token_digest
from memory.store import BlobStore
from tests.factories import add_facts
from tests.workers.helpers import encoding_of, header_of, line_of, plan_of, run_task
from tests.workers.running.processes import Processes, until
from workers.model import encoding_model

pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True)]

TEXTS = ("Bob lives in Lisbon.", "Ann has a parrot called Kiwi.", "Bob's sister is Ann.", "Kiwi likes apples.")


def all_ready(*facts: Fact) -> bool:
    return Encoding.objects.filter(fact__in=facts, state="ready").count() == len(facts)


def test_an_engine_that_comes_late_finds_the_work_waiting(processes: Processes, tenant: Tenant) -> None:
    processes.stop_engine()
    (fact,) = add_facts(tenant, "Bob lives in Lisbon.")
    until(lambda: Encoding.objects.filter(fact=fact, attempts__gte=2).exists(), "it was tried again")
    assert encoding_of(fact).state == "pending"
    processes.start_engine()
    until(lambda: all_ready(fact), "it is encoded", 120)


def test_facts_and_their_header_become_ready(processes: Processes, store: BlobStore, tenant: Tenant) -> None:
    processes.start_engine()
    facts = add_facts(tenant, *TEXTS)
    until(lambda: all_ready(*facts), "all are encoded")
    header = header_of(facts[0])
    assert header.state == "ready"
    for fact in facts:
        encoding = encoding_of(fact)
        plan = plan_of(fact, *(Fact.objects.get(pk=pk) for pk in encoding.context_fact_ids))
        line = line_of(plan)
        blob = store.read(encoding.key)
        assert blob is not None
        assert encoding.key == line.key
        assert blob.digest == encoding.digest == token_digest(plan.token_ids[line.start : line.end])
        assert (blob.start, blob.tokens) == (line.start, line.tokens)
        assert blob.fingerprint == encoding_model().blob_fingerprint
        assert encoding.bytes == blob.nbytes > 0
        assert bool(blob.rows.abs().sum(dim=1).min() > 0)


def test_a_deleted_fact_is_in_no_blob_and_dependents_are_encoded_without_it(
    processes: Processes, store: BlobStore, tenant: Tenant
) -> None:
    processes.start_engine()
    facts = add_facts(tenant, *TEXTS)
    until(lambda: all_ready(*facts), "all are encoded")
    former = {fact.pk: encoding_of(fact).key for fact in facts}
    deleted, *left = facts[1:]
    fact_delete(fact=deleted)
    until(lambda: all_ready(*left) and not Encoding.objects.filter(state="stale").exists(), "all is done again")
    assert not Encoding.objects.filter(context_fact_ids__contains=[deleted.pk]).exists()
    assert not Encoding.objects.filter(fact=deleted).exists()
    assert not any(store.exists(former[fact.pk]) for fact in (deleted, *left))
    assert all(store.verify(encoding_of(fact).key) for fact in left)
    assert encoding_of(facts[0]).key == former[facts[0].pk]
    assert store.exists(former[facts[0].pk])


def test_a_blob_broken_on_disk_is_encoded_again(processes: Processes, store: BlobStore, tenant: Tenant) -> None:
    processes.start_engine()
    (fact,) = add_facts(tenant, "Bob lives in Lisbon.")
    until(lambda: all_ready(fact), "it is encoded")
    first = encoding_of(fact)
    os.truncate(store.path(first.key), 1000)
    assert store.read(first.key) is None, "whoever reads it removes it"
    from workers.tiering import audit

    audit.apply().get()
    until(lambda: all_ready(fact) and encoding_of(fact).pk != first.pk, "it is encoded again")
    assert store.verify(encoding_of(fact).key)


def test_a_task_that_comes_again_asks_for_nothing(processes: Processes, store: BlobStore, tenant: Tenant) -> None:
    processes.start_engine()
    (fact,) = add_facts(tenant, "Bob lives in Lisbon.")
    until(lambda: all_ready(fact), "it is encoded")
    path = store.path(encoding_of(fact).key)
    written = path.stat().st_mtime_ns
    run_task(fact)
    assert path.stat().st_mtime_ns == written
