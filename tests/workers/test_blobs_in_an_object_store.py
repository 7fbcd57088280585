"""Workers and an object store: it decides what is ready, and its troubles cost time alone."""

from typing import Any

import pytest
import redis
from facts.models import Encoding, Fact
from facts.services import fact_delete
from tenants.models import Tenant

from memory.store import BlobStore, open_store
from tests.factories import add_facts
from tests.object_store import environment
from tests.workers.helpers import encode, encoding_into, encoding_of, finished, ready, tasks_in
from tests.workers.test_the_store_is_audited import turn
from tests.workers.troubled_engine import TroubledEngine
from workers import attempts, blobs
from workers.auditing import ROUNDS, audit_all
from workers.parts import blob_store
from workers.tiering import audit, drop_stale

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def store(bucket: str, store: BlobStore, settings: Any) -> BlobStore:
    """As the configuration has it; the folder beside it is empty."""
    settings.ENV = settings.ENV.model_copy(update={"store_url": bucket})
    return blob_store()


@pytest.fixture(autouse=True)
def blobs_are_not_long_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs.Blobs.wait_for, "__defaults__", (0.5,))


@pytest.fixture
def fact(store: BlobStore, tenant: Tenant, broker: redis.Redis) -> Fact:
    (fact,) = add_facts(tenant, "Bob lives in Lisbon.")
    broker.flushdb()
    return fact


@pytest.fixture
def away(monkeypatch: pytest.MonkeyPatch, settings: Any) -> None:
    """From now on nothing listens at the store's endpoint."""
    with environment({"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}):
        store = open_store(settings.ENV.store_path, "s3://away")
    monkeypatch.setattr("workers.parts._store", lambda folder, url: store)


def test_a_fact_is_ready_once_its_blob_is_in_the_object_store(
    store: BlobStore, engine: TroubledEngine, fact: Fact
) -> None:
    engine.encode = encoding_into(store)
    assert encode(fact).state == "ready"
    assert store.verify(encoding_of(fact).key) is not None
    assert not store.root.exists(), "workers keep no copies"


def test_a_copy_on_disk_does_not_make_it_ready(store: BlobStore, engine: TroubledEngine, fact: Fact) -> None:
    engine.encode = encoding_into(BlobStore(store.root))
    assert encode(fact).state != "ready"


def test_a_store_that_is_away_leaves_a_fact_pending(
    engine: TroubledEngine, fact: Fact, away: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(attempts, "MAX_RETRIES", 1)
    assert (encode(fact).state, encode(fact).error) == ("pending", "")


def test_a_deletion_leaves_store_and_disk_and_is_told_to_the_engine(
    store: BlobStore, engine: TroubledEngine, fact: Fact
) -> None:
    key = ready(store, fact).key
    blob = store.read(key)
    assert blob is not None
    BlobStore(store.root).write(blob)
    fact_delete(fact=fact)
    finished(drop_stale, fact.tenant_id, fact.owner_id)
    assert not store.exists(key)
    assert not BlobStore(store.root).exists(key)
    assert key in engine.dropped


def test_a_deletion_while_the_store_is_away_is_done_later(
    store: BlobStore, engine: TroubledEngine, fact: Fact, monkeypatch: pytest.MonkeyPatch
) -> None:
    key = ready(store, fact).key
    fact_delete(fact=fact)
    monkeypatch.setattr(attempts, "MAX_RETRIES", 1)
    with monkeypatch.context() as outage, environment({"AWS_ENDPOINT_URL": "http://127.0.0.1:9"}):
        outage.setattr("workers.parts._store", lambda folder, url: open_store(folder, "s3://away"))
        finished(drop_stale, fact.tenant_id, fact.owner_id)
    assert Encoding.objects.filter(key=key, state="stale").exists()
    finished(drop_stale, fact.tenant_id, fact.owner_id)
    assert not store.exists(key)
    assert not Encoding.objects.filter(key=key).exists()


def test_a_store_that_is_away_is_not_taken_for_an_empty_one(
    store: BlobStore, fact: Fact, broker: redis.Redis, request: pytest.FixtureRequest
) -> None:
    ready(store, fact)
    broker.flushdb()
    request.getfixturevalue("away")
    finished(audit)
    assert encoding_of(fact).state == "ready"
    assert tasks_in(broker, "tiering") == []


def test_a_lost_object_is_found_in_its_turn(store: BlobStore, fact: Fact, broker: redis.Redis) -> None:
    encoding = ready(store, fact)
    broker.flushdb()
    store.delete(encoding.key)
    digit = int(encoding.key[0], 16)
    of_others = next(n for n in range(1000) if n % 16 == (digit + 1) % 16 and n % ROUNDS != encoding.pk % ROUNDS)
    its_own = next(n for n in range(1000) if n % 16 == digit and n % ROUNDS != encoding.pk % ROUNDS)
    audit_all(now=turn(of_others))
    assert tasks_in(broker, "tiering") == []
    audit_all(now=turn(its_own))
    assert tasks_in(broker, "tiering") == [("workers.tiering.drop_stale", [str(fact.tenant_id), str(fact.owner_id)])]
