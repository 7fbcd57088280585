"""Tasks are idempotent by blob key: what is there, whole and of the right tokens, is not asked for again."""

from typing import Any

import pytest
from django.utils import timezone
from facts.models import Encoding, Fact
from facts.selectors import fact_delta, header_encoding
from tenants.models import Tenant

from memory.digest import token_digest
from memory.store import BlobStore
from tests.factories import add_facts
from tests.workers.helpers import (
    STRATEGY,
    encode,
    encoding_into,
    finished,
    header_of,
    header_of_plan,
    line_of,
    plan_of,
    ready,
    run_task,
    write_blob,
    write_blobs,
)
from tests.workers.troubled_engine import TroubledEngine
from workers.encode import encode_header
from workers.model import encoding_model


@pytest.fixture
def fact(tenant: Tenant) -> Fact:
    return add_facts(tenant, "Bob lives in Lisbon.")[0]


def test_fact_and_header_become_ready_without_an_engine(store: BlobStore, fact: Fact) -> None:
    plan = plan_of(fact)
    write_blobs(store, plan)
    encoding = encode(fact)
    line = line_of(plan)
    assert (encoding.state, encoding.key, encoding.digest) == ("ready", line.key, line.digest)
    assert encoding.digest == token_digest(plan.token_ids[line.start : line.end])
    assert (encoding.tokens, encoding.bytes) == (line.tokens, line.tokens * 8 * 4)
    assert header_of(fact).key == header_of_plan(plan).key


def test_readers_get_them_with_the_next_delta(store: BlobStore, fact: Fact) -> None:
    ready(store, fact)
    names: dict[str, Any] = {"fingerprint": encoding_model().fingerprint, "strategies": [STRATEGY]}
    (row,) = fact_delta(owner_id=fact.owner_id, after_seq=fact.seq, embedding_model="demo", **names)
    assert row.key == line_of(plan_of(fact)).key
    header = header_encoding(owner_id=fact.owner_id, **names)
    assert header is not None
    assert header.key == header_of_plan(plan_of(fact)).key


def test_a_task_that_comes_twice_changes_nothing(store: BlobStore, engine: TroubledEngine, fact: Fact) -> None:
    first = ready(store, fact)
    second = encode(fact)
    assert (first.pk, first.updated_at) == (second.pk, second.updated_at)
    assert engine.encodes == []


def test_only_what_is_missing_is_asked_for(store: BlobStore, engine: TroubledEngine, tenant: Tenant) -> None:
    first, second = add_facts(tenant, "Bob lives in Lisbon.", "Ann has a parrot.")
    ready(store, first)
    engine.encode = encoding_into(store)
    encode(second)
    (body,) = engine.encodes
    line = line_of(plan_of(second, first))
    assert body["kv_transfer_params"]["spans"] == [{"key": line.key, "start": line.start, "end": line.end}]


def test_the_request_is_one_low_priority_token_under_the_service_key(
    store: BlobStore, engine: TroubledEngine, fact: Fact, settings: Any
) -> None:
    engine.encode = encoding_into(store)
    assert encode(fact).state == "ready"
    (body,) = engine.encodes
    assert body["prompt"] == plan_of(fact).token_ids
    assert (body["max_tokens"], body["temperature"], body["priority"]) == (1, 0, 10)
    assert len(body["cache_salt"]) == 64
    assert [span["start"] for span in body["kv_transfer_params"]["spans"]] == [0, line_of(plan_of(fact)).start]
    assert set(engine.keys) == {f"Bearer {settings.ENGINE_SERVICE_KEY}"}


def test_a_broken_blob_is_removed_and_not_served(store: BlobStore, fact: Fact) -> None:
    plan = plan_of(fact)
    write_blobs(store, plan)
    path = store.path(line_of(plan).key)
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)
    assert encode(fact).state == "pending"
    assert not path.exists()


def test_a_blob_of_other_tokens_is_removed_and_not_served(store: BlobStore, fact: Fact) -> None:
    plan = plan_of(fact)
    line = line_of(plan)
    write_blob(store, type(line)(line.key, line.start, line.end, "0" * 32))
    assert encode(fact).state == "pending"
    assert not store.exists(line.key)


def test_a_blob_of_another_model_is_not_served_and_nobodys_failure(store: BlobStore, fact: Fact) -> None:
    line = line_of(plan_of(fact))
    write_blob(store, line, fingerprint="another model")
    assert encode(fact).state == "pending"
    assert not store.exists(line.key)


def test_a_header_can_be_encoded_alone(store: BlobStore, fact: Fact) -> None:
    write_blob(store, header_of_plan(plan_of(fact)))
    finished(encode_header, fact.tenant_id, fact.owner_id)
    assert header_of(fact).state == "ready"


def test_an_expired_fact_is_not_encoded(store: BlobStore, fact: Fact) -> None:
    write_blobs(store, plan_of(fact))
    Fact.objects.update(expires_at=timezone.now())
    run_task(fact)
    assert not Encoding.objects.filter(fact=fact).exists()
