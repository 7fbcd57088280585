"""Blobs that are served are there and whole; blobs that are there are somebody's."""

import os
import time

import pytest
import redis
from facts.models import Fact
from tenants.models import Tenant

from memory.store import BlobStore
from tests.factories import add_facts, blob_key_of
from tests.workers.helpers import encoding_of, finished, header_of, line_of, plan_of, ready, tasks_in, write_blob
from tests.workers.troubled_engine import TroubledEngine
from workers.auditing import ORPHAN_SECONDS, PERIOD_SECONDS, ROUNDS, audit_all
from workers.tiering import audit, drop_stale

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def fact(store: BlobStore, tenant: Tenant, broker: redis.Redis) -> Fact:
    (fact,) = add_facts(tenant, "Bob lives in Lisbon.")
    ready(store, fact)
    broker.flushdb()
    return fact


def turn(number: int) -> float:
    return number * PERIOD_SECONDS + 1.0


def aged(store: BlobStore, key: str) -> None:
    long_ago = time.time() - ORPHAN_SECONDS - 60
    os.utime(store.path(key), (long_ago, long_ago))


def test_nothing_happens_to_a_store_in_order(fact: Fact, broker: redis.Redis) -> None:
    finished(audit)
    assert encoding_of(fact).state == "ready"
    assert tasks_in(broker, "tiering") == []


def test_a_missing_blob_is_encoded_again(store: BlobStore, fact: Fact, broker: redis.Redis) -> None:
    key = encoding_of(fact).key
    store.delete(key)
    finished(audit)
    assert tasks_in(broker, "tiering") == [("workers.tiering.drop_stale", [str(fact.tenant_id), str(fact.owner_id)])]
    finished(drop_stale, fact.tenant_id, fact.owner_id)
    assert tasks_in(broker, "encode") == [("workers.encode.encode_fact", [str(fact.tenant_id), str(fact.pk)])]
    assert ready(store, fact).key == key


def test_a_flipped_bit_is_found_in_its_turn(store: BlobStore, fact: Fact, broker: redis.Redis) -> None:
    encoding = encoding_of(fact)
    path = store.path(encoding.key)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    audit_all(now=turn(encoding.pk % ROUNDS + 1))
    assert tasks_in(broker, "tiering") == []
    audit_all(now=turn(encoding.pk % ROUNDS))
    assert len(tasks_in(broker, "tiering")) == 1
    assert header_of(fact).state == "ready"


def test_every_blob_has_its_turn(fact: Fact) -> None:
    turns = {int(turn(number) // PERIOD_SECONDS) % ROUNDS for number in range(ROUNDS)}
    assert turns == set(range(ROUNDS))


def next_look_at(key: str) -> float:
    """When, from now on, orphans are looked for among the keys that begin like this one."""
    cycle = 256 * PERIOD_SECONDS
    at = time.time() // cycle * cycle + turn(int(key[:2], 16))
    return at if at > time.time() else at + cycle


def test_an_old_blob_of_no_encoding_is_removed_everywhere(store: BlobStore, engine: TroubledEngine, fact: Fact) -> None:
    orphan = blob_key_of("orphan")
    segment = line_of(plan_of(fact))
    write_blob(store, type(segment)(orphan, segment.start, segment.end, segment.digest))
    audit_all(now=turn(int(orphan[:2], 16)))
    assert store.exists(orphan), "it may be somebody's in a moment"
    aged(store, orphan)
    audit_all(now=next_look_at(orphan))
    assert not store.exists(orphan)
    assert engine.dropped == {orphan}


@pytest.mark.parametrize("state", ["pending", "ready", "failed", "stale"])
def test_an_old_blob_of_an_encoding_stays(store: BlobStore, engine: TroubledEngine, fact: Fact, state: str) -> None:
    encoding = encoding_of(fact)
    type(encoding).objects.filter(pk=encoding.pk).update(state=state)
    aged(store, encoding.key)
    audit_all(now=next_look_at(encoding.key))
    assert store.exists(encoding.key)
    assert engine.drops == []


def test_what_a_killed_writer_left_is_removed_once_it_is_old(store: BlobStore, fact: Fact) -> None:
    path = store.path(encoding_of(fact).key)
    old, new = (path.with_name(f"{path.name}.{name}.writing") for name in ("old", "new"))
    for left in (old, new):
        left.write_bytes(b"half a blob")
    long_ago = time.time() - ORPHAN_SECONDS - 60
    os.utime(old, (long_ago, long_ago))
    finished(audit)
    assert (old.exists(), new.exists(), path.exists()) == (False, True, True)
