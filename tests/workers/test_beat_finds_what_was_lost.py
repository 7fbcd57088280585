"""Whatever tasks were lost on the way, the database says what is left to do."""

import pytest
import redis
from facts import enqueue
from facts.models import Encoding, Fact, Owner
from facts.services import fact_delete
from tenants.models import Tenant

from memory.store import BlobStore
from tests.factories import People, add_facts
from tests.workers.helpers import encode, encoding_of, finished, header_of, ready, tasks_in
from workers import sweeping
from workers.encode import sweep

pytestmark = pytest.mark.django_db(transaction=True)

LONG_AGO = "2020-01-01T00:00Z"
FACT, HEADER, DROP = "workers.encode.encode_fact", "workers.encode.encode_header", "workers.tiering.drop_stale"


def swept(broker: redis.Redis) -> list[tuple[str, list[str]]]:
    """What the sweep sends, long after everything that happened."""
    for model, column in ((Fact, "updated_at"), (Encoding, "updated_at"), (Owner, "created_at")):
        model.objects.update(**{column: LONG_AGO})
    broker.flushdb()
    finished(sweep)
    return [*tasks_in(broker, "encode"), *tasks_in(broker, "tiering")]


def test_facts_added_while_the_broker_was_away(
    tenant: Tenant, broker: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(enqueue, "_paused_until", float("inf"))
    (fact,) = add_facts(tenant, "Bob lives in Lisbon.")
    assert tasks_in(broker, "encode") == []
    monkeypatch.setattr(enqueue, "_paused_until", 0.0)
    assert swept(broker) == [
        (HEADER, [str(tenant.pk), str(fact.owner_id)]),
        (FACT, [str(tenant.pk), str(fact.pk)]),
    ]


def test_encodings_left_pending(tenant: Tenant, broker: redis.Redis) -> None:
    (fact,) = add_facts(tenant, "Bob lives in Lisbon.")
    assert encode(fact).state == "pending"
    assert (FACT, [str(tenant.pk), str(fact.pk)]) in swept(broker)


def test_what_is_under_way_is_not_sent_again(tenant: Tenant, broker: redis.Redis) -> None:
    add_facts(tenant, "Bob lives in Lisbon.")
    broker.flushdb()
    finished(sweep)
    assert tasks_in(broker, "encode") == []


def test_what_is_ready_is_not_sent_again(store: BlobStore, tenant: Tenant, broker: redis.Redis) -> None:
    ready(store, *add_facts(tenant, "Bob lives in Lisbon."))
    assert swept(broker) == []


def test_stale_blobs_whose_drop_was_lost(store: BlobStore, tenant: Tenant, broker: redis.Redis) -> None:
    (fact,) = add_facts(tenant, "Bob lives in Lisbon.")
    ready(store, fact)
    fact_delete(fact=fact)
    assert swept(broker) == [(DROP, [str(tenant.pk), str(fact.owner_id)])]


def test_encodings_of_a_former_strategy(store: BlobStore, tenant: Tenant, broker: redis.Redis) -> None:
    (fact,) = add_facts(tenant, "Bob lives in Lisbon.")
    former = ready(store, fact)
    Tenant.objects.filter(pk=tenant.pk).update(strategy="window(4)")
    sent = swept(broker)
    former.refresh_from_db()
    assert former.state == "stale"
    assert sent == [
        (HEADER, [str(tenant.pk), str(fact.owner_id)]),
        (FACT, [str(tenant.pk), str(fact.pk)]),
        (DROP, [str(tenant.pk), str(fact.owner_id)]),
    ]


def test_encodings_of_a_former_model_or_header(store: BlobStore, tenant: Tenant, broker: redis.Redis) -> None:
    (fact,) = add_facts(tenant, "Bob lives in Lisbon.")
    ready(store, fact)
    Encoding.objects.update(fingerprint="former")
    assert {name for name, _ in swept(broker)} == {FACT, HEADER, DROP}


def test_facts_without_vector_get_one(tenant: Tenant, broker: redis.Redis) -> None:
    (fact,) = add_facts(tenant, "Bob lives in Lisbon.")
    Fact.objects.update(embedding=None, embedding_model="")
    swept(broker)
    fact.refresh_from_db()
    assert fact.embedding is not None
    assert len(fact.embedding) == 384 * 4


def test_facts_of_earlier_rules_get_their_claims(tenant: Tenant, broker: redis.Redis) -> None:
    (fact,) = add_facts(tenant, "Bob lives in Lisbon.")
    Fact.objects.update(claim_key="", claim_version=0)
    swept(broker)
    assert Fact.objects.get().claim_key == fact.claim_key != ""


def test_a_long_queue_is_not_made_longer(tenant: Tenant, broker: redis.Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sweeping, "BUSY", 3)
    add_facts(tenant, *(f"Note number {number}." for number in range(4)))
    Fact.objects.update(updated_at=LONG_AGO)
    assert sweeping.queued() == 4
    finished(sweep)
    assert len(tasks_in(broker, "encode")) == 4


def test_one_tenants_trouble_is_not_the_others(people: People, tenant: Tenant, broker: redis.Redis) -> None:
    (fact,) = add_facts(tenant, "Bob lives in Lisbon.")
    Tenant.objects.exclude(pk=tenant.pk).update(strategy="nonsense")
    Tenant.objects.exclude(pk=tenant.pk).update(created_at=LONG_AGO)
    assert (FACT, [str(tenant.pk), str(fact.pk)]) in swept(broker)


def test_both_tenants_are_visited_each_in_its_scope(people: People, tenant: Tenant, broker: redis.Redis) -> None:
    (ours,) = add_facts(tenant, "Bob lives in Lisbon.")
    (theirs,) = add_facts(people.other_tenant, "Bob lives in Lisbon.")
    from tenants.scope import every_tenant

    with every_tenant():
        sent = swept(broker)
    assert (FACT, [str(tenant.pk), str(ours.pk)]) in sent
    assert (FACT, [str(people.other_tenant.pk), str(theirs.pk)]) in sent


def test_a_header_lost_alone_is_sent_alone(store: BlobStore, tenant: Tenant, broker: redis.Redis) -> None:
    (fact,) = add_facts(tenant, "Bob lives in Lisbon.")
    ready(store, fact)
    header_of(fact).delete()
    assert swept(broker) == [(HEADER, [str(tenant.pk), str(fact.owner_id)])]
    assert encoding_of(fact).state == "ready"
