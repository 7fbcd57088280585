"""An engine that is away costs time; a fact it cannot take ends as failed and stays usable as text."""

from typing import Any

import pytest
from facts.models import Encoding, Fact
from facts.search import facts_search
from facts.selectors import encodings_unfinished, fact_delta
from tenants.models import Tenant

from memory.store import BlobStore
from tests.factories import ALICE, add_facts
from tests.workers.helpers import (
    STRATEGY,
    encode,
    encoding_into,
    finished,
    header_of,
    header_of_plan,
    plan_of,
    ready,
    write_asked,
    write_blob,
    write_blobs,
)
from tests.workers.troubled_engine import Body, Reply, TroubledEngine, accept_all
from workers import blobs
from workers.attempts import LONGEST_DELAY, MAX_FAILURES, delay
from workers.encode import encode_header
from workers.model import encoding_model


@pytest.fixture
def fact(tenant: Tenant) -> Fact:
    return add_facts(tenant, "Bob lives in Lisbon.")[0]


@pytest.fixture(autouse=True)
def blobs_are_not_long_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs.Blobs.wait_for, "__defaults__", (0.05,))


def answering(status: int, message: str = "no") -> Any:
    return lambda body: (status, {"error": {"message": message}})


def test_without_an_engine_it_stays_pending_and_finishes_later(store: BlobStore, fact: Fact) -> None:
    waiting = encode(fact)
    assert (waiting.state, waiting.error) == ("pending", "")
    write_blobs(store, plan_of(fact))
    assert encode(fact).state == "ready"


@pytest.mark.parametrize("status", [401, 403, 404, 429, 502, 503])
def test_an_engine_that_is_busy_or_not_ours_fails_no_fact(engine: TroubledEngine, fact: Fact, status: int) -> None:
    engine.encode = answering(status)
    assert encode(fact).state == "pending"


def test_a_refused_fact_fails_at_once_with_the_reason(engine: TroubledEngine, fact: Fact) -> None:
    engine.encode = answering(400, "this token is poison")
    encoding = encode(fact)
    assert encoding.state == "failed"
    assert encoding.error == "the engine refuses it: 400: this token is poison"
    assert len(engine.encodes) == 1


def test_a_failed_fact_is_still_used_as_text(engine: TroubledEngine, tenant: Tenant, fact: Fact) -> None:
    engine.encode = answering(400)
    encode(fact)
    names: dict[str, Any] = {"fingerprint": encoding_model().fingerprint, "strategies": [STRATEGY]}
    (row,) = fact_delta(owner_id=fact.owner_id, after_seq=-1, embedding_model="demo", **names)
    assert (row.active, row.text, row.key) == (True, "Bob lives in Lisbon.", None)
    found = facts_search(tenant=tenant, query="Where does Bob live?", scopes=ALICE)
    assert [entry.fact.pk for entry in found] == [fact.pk]


def test_beat_leaves_failed_facts_alone(engine: TroubledEngine, tenant: Tenant, fact: Fact) -> None:
    engine.encode = answering(400)
    encode(fact)
    Encoding.objects.update(updated_at="2020-01-01T00:00Z")
    Fact.objects.update(updated_at="2020-01-01T00:00Z")
    names: dict[str, Any] = {"fingerprint": encoding_model().fingerprint, "strategies": [STRATEGY]}
    assert encodings_unfinished(tenant=tenant, **names) == []


@pytest.mark.parametrize("status", [500, 0])
def test_an_engine_that_breaks_at_this_fact_is_asked_a_few_times_only(
    engine: TroubledEngine, fact: Fact, status: int
) -> None:
    engine.encode = answering(status)
    encoding = encode(fact)
    assert encoding.state == "failed"
    assert encoding.error.startswith(f"failed {MAX_FAILURES} times: ")
    assert len(engine.encodes) == MAX_FAILURES


def test_a_blob_that_never_comes_is_asked_for_a_few_times_only(engine: TroubledEngine, fact: Fact) -> None:
    encoding = encode(fact)
    assert encoding.state == "failed"
    assert "no blob" in encoding.error
    assert len(engine.encodes) == MAX_FAILURES


def test_an_engine_without_connector_is_said_so(engine: TroubledEngine, fact: Fact) -> None:
    engine.encode = lambda body: (200, {"choices": []})
    assert "connector" in encode(fact).error


def test_a_failure_that_passes_leaves_the_fact_ready(store: BlobStore, engine: TroubledEngine, fact: Fact) -> None:
    def fail_twice(body: Body) -> Reply:
        if len(engine.encodes) <= 2:
            return 500, {}
        write_asked(store, body)
        return accept_all(body)

    engine.encode = fail_twice
    assert encode(fact).state == "ready"
    assert len(engine.encodes) == 3


def test_a_fact_longer_than_the_model_fails_without_a_request(engine: TroubledEngine, tenant: Tenant) -> None:
    engine.max_model_len = 256
    (fact,) = add_facts(tenant, "word " * 400)
    encoding = encode(fact)
    assert encoding.state == "failed"
    assert encoding.error.endswith("the model takes 255")
    assert engine.encodes == []


def test_a_context_longer_than_the_model_is_cut(store: BlobStore, engine: TroubledEngine, tenant: Tenant) -> None:
    engine.max_model_len = 256
    *_, nearest, fact = add_facts(tenant, *(f"{'word ' * 150}{number}" for number in range(3)), "Bob", "Bob rows.")
    engine.encode = encoding_into(store)
    encoding = encode(fact)
    assert encoding.state == "ready"
    assert nearest.pk in encoding.context_fact_ids
    assert len(encoding.context_fact_ids) == 2
    assert len(engine.encodes[-1]["prompt"]) < 256


def test_a_refused_header_fails_by_itself(store: BlobStore, engine: TroubledEngine, fact: Fact) -> None:
    engine.encode = answering(400)
    finished(encode_header, fact.tenant_id, fact.owner_id)
    assert header_of(fact).state == "failed"
    write_blob(store, header_of_plan(plan_of(fact)))
    ready(store, fact)
    assert header_of(fact).state == "ready"


def test_delays_grow_to_less_than_the_grace_and_never_agree() -> None:
    assert all(0.5 * 2**retries <= delay(retries) <= 2**retries for retries in range(6))
    assert all(LONGEST_DELAY / 2 <= delay(retries) <= LONGEST_DELAY < 120 for retries in range(6, 40))
    assert len({delay(5) for _ in range(20)}) > 1
