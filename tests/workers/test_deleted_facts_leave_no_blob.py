"""A deleted or changed fact: its blob goes, and so do those computed from it, whenever the change comes."""

import time

import pytest
import redis
from facts.models import Encoding, Fact
from facts.services import encodings_mark_stale, fact_delete, fact_update
from tenants.models import Tenant
from tenants.scope import tenant_scope

from memory.store import BlobStore
from tests.factories import add_facts
from tests.workers.helpers import (
    encode,
    encoding_into,
    encoding_of,
    finished,
    header_of,
    line_of,
    plan_of,
    ready,
    run_task,
    tasks_in,
    write_asked,
    write_blobs,
)
from tests.workers.troubled_engine import Body, Reply, TroubledEngine, accept_all
from workers import engine as engine_module
from workers.encode import encode_fact, sweep
from workers.tiering import drop_stale

pytestmark = pytest.mark.django_db(transaction=True)


def three_ready(store: BlobStore, tenant: Tenant) -> list[Fact]:
    """The first stands in the context of the second and third, the second in the third's."""
    Fact.objects.update(embedding=None)
    first, second, third = add_facts(tenant, "Bob lives in Lisbon.", "Ann has a parrot.", "Bob likes ships.")
    Fact.objects.update(embedding=None, embedding_model="")
    ready(store, first)
    ready(store, second, first)
    ready(store, third, first, second)
    return [first, second, third]


def drop(fact: Fact) -> None:
    finished(drop_stale, fact.tenant_id, fact.owner_id)


def test_its_blob_and_its_dependents_blobs_leave_store_and_engine(
    store: BlobStore, engine: TroubledEngine, tenant: Tenant
) -> None:
    first, second, third = three_ready(store, tenant)
    keys = [encoding_of(fact).key for fact in (first, second, third)]
    fact_delete(fact=second)
    drop(second)
    assert [store.exists(key) for key in keys] == [True, False, False]
    assert engine.dropped == set(keys[1:])
    assert store.exists(header_of(first).key)
    assert not Encoding.objects.filter(state="stale").exists()


def test_dependents_are_encoded_again_without_it(store: BlobStore, tenant: Tenant, broker: redis.Redis) -> None:
    first, second, third = three_ready(store, tenant)
    broker.flushdb()
    fact_delete(fact=second)
    assert tasks_in(broker, "encode") == [(encode_fact.name, [str(tenant.pk), str(third.pk)])]
    drop(second)
    encoding = ready(store, third, first)
    assert encoding.context_fact_ids == [first.pk]


def test_a_changed_fact_is_encoded_from_its_new_text_only(store: BlobStore, tenant: Tenant) -> None:
    first, second, _ = three_ready(store, tenant)
    former = encoding_of(second).key
    changed = fact_update(fact=second, text="Ann has a cat.")
    Fact.objects.update(embedding=None, embedding_model="")
    drop(second)
    assert not store.exists(former)
    assert ready(store, changed, first).key == line_of(plan_of(changed, first)).key


def test_dropping_sends_what_has_no_encoding_any_more(store: BlobStore, tenant: Tenant, broker: redis.Redis) -> None:
    first, second, third = three_ready(store, tenant)
    broker.flushdb()
    ids = [encoding_of(first).pk, encoding_of(third).pk, header_of(first).pk]
    encodings_mark_stale(tenant=tenant, ids=ids)
    drop(first)
    owner_id = str(first.owner_id)
    assert tasks_in(broker, "encode") == [
        ("workers.encode.encode_header", [str(tenant.pk), owner_id]),
        *(("workers.encode.encode_fact", [str(tenant.pk), str(fact.pk)]) for fact in (first, third)),
    ]
    assert encoding_of(second).state == "ready"


def test_an_engine_that_is_away_holds_nothing(store: BlobStore, tenant: Tenant) -> None:
    first, *_ = three_ready(store, tenant)
    key = encoding_of(first).key
    fact_delete(fact=first)
    drop(first)
    assert not store.exists(key)
    assert not Encoding.objects.filter(state="stale").exists()


def test_an_engine_that_may_still_hold_it_is_told_again(
    store: BlobStore, engine: TroubledEngine, tenant: Tenant
) -> None:
    first, *_ = three_ready(store, tenant)
    engine.drop = lambda body: (503, {}) if len(engine.drops) < 3 else accept_all(body)
    fact_delete(fact=first)
    drop(first)
    assert len(engine.drops) == 3
    assert not Encoding.objects.filter(state="stale").exists()


def test_rows_stay_until_the_engine_has_heard_it(store: BlobStore, engine: TroubledEngine, tenant: Tenant) -> None:
    first, *_ = three_ready(store, tenant)
    engine.drop = lambda body: (503, {})
    fact_delete(fact=first)
    drop(first)
    assert Encoding.objects.filter(state="stale").count() == 3


def test_a_blob_that_is_served_again_stays(store: BlobStore, engine: TroubledEngine, tenant: Tenant) -> None:
    (first,) = add_facts(tenant, "Bob lives in Lisbon.")
    key = ready(store, first).key
    fact_delete(fact=first)
    (again,) = add_facts(tenant, "Bob lives in Lisbon.")
    assert ready(store, again).key == key, "same text, same context, same owner: same KV"
    drop(first)
    assert store.exists(key)
    assert engine.dropped == set()


def test_a_fact_deleted_while_the_engine_works_leaves_no_blob(
    store: BlobStore, engine: TroubledEngine, tenant: Tenant
) -> None:
    (fact,) = add_facts(tenant, "Bob lives in Lisbon.")

    def encode_meanwhile_deleted(body: Body) -> Reply:
        with tenant_scope(tenant):
            fact_delete(fact=fact)
        write_asked(store, body)
        return accept_all(body)

    engine.encode = encode_meanwhile_deleted
    run_task(fact)
    key = line_of(plan_of(fact)).key
    assert not store.exists(key)
    assert key in engine.dropped


def test_a_context_deleted_while_the_engine_works_is_in_no_blob(
    store: BlobStore, engine: TroubledEngine, tenant: Tenant, broker: redis.Redis
) -> None:
    first, second = add_facts(tenant, "Bob lives in Lisbon.", "Ann has a parrot.")
    ready(store, first)
    broker.flushdb()

    def encode_meanwhile_deleted(body: Body) -> Reply:
        with tenant_scope(tenant):
            fact_delete(fact=first)
        write_asked(store, body)
        return accept_all(body)

    engine.encode = encode_meanwhile_deleted
    run_task(second)
    assert not store.exists(line_of(plan_of(second, first)).key)
    assert (encode_fact.name, [str(tenant.pk), str(second.pk)]) in tasks_in(broker, "encode")
    engine.encode = encoding_into(store)
    assert encode(second).context_fact_ids == []


def test_a_text_changed_while_the_task_starts_is_not_taken_for_the_new_one(
    store: BlobStore, engine: TroubledEngine, tenant: Tenant
) -> None:
    (fact,) = add_facts(tenant, "Bob lives in Lisbon.")

    def encode_meanwhile_changed(body: Body) -> Reply:
        with tenant_scope(tenant):
            fact_update(fact=fact, text="Bob lives in Porto.")
        write_asked(store, body)
        return accept_all(body)

    former = line_of(plan_of(fact)).key
    engine.encode = encode_meanwhile_changed
    run_task(fact)
    assert not store.exists(former)
    assert not Encoding.objects.filter(fact=fact, state="ready").exists()


def test_a_blob_whose_worker_died_is_found_through_its_announcement(
    store: BlobStore, engine: TroubledEngine, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The request was sent, nobody waited for the blob, the fact is deleted, and then the blob comes."""
    (fact,) = add_facts(tenant, "Bob lives in Lisbon.")
    engine.encode = lambda body: (503, {})
    assert encode(fact).state == "pending"
    fact_delete(fact=fact)
    write_blobs(store, plan_of(fact))
    drop(fact)
    assert not store.exists(line_of(plan_of(fact)).key)


def test_an_attempt_with_another_context_leaves_no_blob(
    store: BlobStore, engine: TroubledEngine, tenant: Tenant
) -> None:
    first, second = add_facts(tenant, "Bob lives in Lisbon.", "Ann has a parrot.")
    engine.encode = lambda body: (503, {})
    assert encode(second).state == "pending"
    write_blobs(store, plan_of(second, first))
    fact_delete(fact=first)
    drop(first)
    ready(store, second)
    assert not store.exists(line_of(plan_of(second, first)).key)


def test_a_slow_engine_is_no_absent_engine(
    store: BlobStore, engine: TroubledEngine, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, *_ = three_ready(store, tenant)
    monkeypatch.setattr(engine_module, "ANSWER_SECONDS", 0.5)

    def sleep_at_first(body: Body) -> Reply:
        time.sleep(1.0 if len(engine.drops) == 1 else 0.0)
        return accept_all(body)

    engine.drop = sleep_at_first
    fact_delete(fact=first)
    drop(first)
    assert len(engine.drops) == 2
    assert not Encoding.objects.filter(state="stale").exists()


def test_a_paused_tenants_deletions_are_carried_out(
    store: BlobStore, engine: TroubledEngine, tenant: Tenant, broker: redis.Redis
) -> None:
    first, _, third = three_ready(store, tenant)
    keys = [encoding_of(fact).key for fact in (first, third)]
    Tenant.objects.filter(pk=tenant.pk).update(is_active=False)
    fact_delete(fact=third)
    broker.flushdb()
    finished(sweep)
    assert tasks_in(broker, "encode") == []
    assert tasks_in(broker, "tiering") == [(drop_stale.name, [str(tenant.pk), str(third.owner_id)])]
    drop(third)
    assert [store.exists(key) for key in keys] == [True, False]
    assert engine.dropped == {keys[1]}
