"""When nothing else is to be done a fact gets a better blob, and is served by one or the other at every moment."""

from datetime import timedelta
from typing import Any

import pytest
import redis
from django.utils import timezone
from facts.enqueue import ENCODE_FACT, enqueue
from facts.models import Encoding, Extraction, Fact, Owner
from facts.scopes import Scopes
from facts.selectors import fact_delta
from facts.services import Message, extraction_request, fact_delete, fact_update
from tenants.models import Tenant
from tenants.scope import tenant_scope

from memory.encoding import strategy_names
from memory.store import BlobStore
from tests.factories import ALICE, add_facts
from tests.workers.helpers import encode, encoding_into, finished, point, run_task, tasks_in, write_asked
from tests.workers.troubled_engine import Body, Reply, TroubledEngine, accept_all
from workers import blobs
from workers.encode import refine, sweep
from workers.model import encoding_model
from workers.tiering import drop_stale

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def engine(engine: TroubledEngine, store: BlobStore, broker: redis.Redis) -> TroubledEngine:
    engine.encode = encoding_into(store)
    return engine


def use(tenant: Tenant, strategy: str) -> None:
    Tenant.objects.filter(pk=tenant.pk).update(strategy=strategy)
    tenant.refresh_from_db()


def around(tenant: Tenant, *degrees: float, scopes: Scopes = ALICE) -> list[Fact]:
    """Facts whose vectors have these angles."""
    facts = add_facts(tenant, *[f"Fact at {angle} degrees." for angle in degrees], scopes=scopes)
    return [point(fact, angle) for fact, angle in zip(facts, degrees, strict=True)]


def look(broker: redis.Redis) -> None:
    """The beat's look, with empty queues."""
    broker.flushdb()
    finished(refine)


def served(fact: Fact) -> Encoding:
    return Encoding.objects.get(fact=fact, state="ready")


def served_key(tenant: Tenant, fact: Fact) -> str | None:
    """As a chat's snapshot reads it."""
    names = strategy_names(tenant.strategy)
    asked: dict[str, Any] = {
        "fingerprint": encoding_model().fingerprint,
        "strategies": names,
        "embedding_model": "demo",
    }
    with tenant_scope(tenant):  # engines answer in threads of their own
        rows = fact_delta(owner_id=fact.owner_id, after_seq=-1, **asked)
    (key,) = [row.key for row in rows if row.id == fact.pk]
    return key


def test_nearer_facts_take_their_place_in_the_context(
    engine: TroubledEngine, store: BlobStore, tenant: Tenant, broker: redis.Redis
) -> None:
    use(tenant, "nearest(2)")
    fact, *_ = facts = around(tenant, 0, 80, 90)
    for other in facts:
        run_task(other)
    former = served(fact)
    near = around(tenant, 10, 5)
    assert served_key(tenant, fact) == former.key, "it stays served as it is"
    look(broker)
    better = served(fact)
    assert better.context_fact_ids == [near[0].pk, near[1].pk]
    assert (better.pk == former.pk, better.refreshes) == (False, 1)
    assert served_key(tenant, fact) == better.key != former.key


def test_the_former_blob_stays_until_requests_under_way_have_ended(
    engine: TroubledEngine, store: BlobStore, tenant: Tenant, broker: redis.Redis
) -> None:
    use(tenant, "nearest(1)")
    (fact,) = around(tenant, 0)
    former = encode(fact)
    around(tenant, 10)
    look(broker)
    assert served(fact).key != former.key
    finished(drop_stale, tenant.pk, fact.owner_id)
    assert store.exists(former.key)
    assert former.key not in engine.dropped
    Encoding.objects.filter(pk=former.pk).update(keep_until=timezone.now() - timedelta(seconds=1))
    finished(sweep)
    assert (drop_stale.name, [str(tenant.pk), str(fact.owner_id)]) in tasks_in(broker, "tiering")
    finished(drop_stale, tenant.pk, fact.owner_id)
    assert not store.exists(former.key)
    assert former.key in engine.dropped
    assert store.exists(served(fact).key)


def test_at_every_moment_of_a_refinement_one_blob_is_served(
    engine: TroubledEngine, store: BlobStore, tenant: Tenant, broker: redis.Redis
) -> None:
    use(tenant, "nearest(1)")
    (fact,) = around(tenant, 0)
    former = encode(fact).key
    around(tenant, 10)
    seen = list[str | None]()

    def encode_and_ask(body: Body) -> Reply:
        seen.append(served_key(tenant, fact))
        write_asked(store, body)
        seen.append(served_key(tenant, fact))
        return accept_all(body)

    engine.encode = encode_and_ask
    look(broker)
    assert seen == [former, former]
    assert served_key(tenant, fact) == served(fact).key != former


def test_a_context_that_hardly_changed_is_left(
    engine: TroubledEngine, tenant: Tenant, broker: redis.Redis, settings: Any
) -> None:
    settings.ENV = settings.ENV.model_copy(update={"refresh_share": 0.5})
    use(tenant, "nearest(4)")
    fact, *_ = facts = around(tenant, 0, 10, 20, 30, 40)
    for other in facts:
        run_task(other)
    former, asked = served(fact), len(engine.encodes)
    around(tenant, 5)
    look(broker)
    assert (served(fact).pk, len(engine.encodes)) == (former.pk, asked)
    around(tenant, 6)
    look(broker)
    assert served(fact).pk != former.pk, "two of four are new"


def test_a_memory_that_does_not_change_is_not_looked_through_again(
    engine: TroubledEngine, tenant: Tenant, broker: redis.Redis
) -> None:
    use(tenant, "nearest(1)")
    for fact in around(tenant, 0, 10, 20):
        run_task(fact)
    look(broker)
    look(broker)
    asked = len(engine.encodes)
    owner = Owner.objects.get()
    assert owner.checked_seq == owner.change_seq
    look(broker)
    assert len(engine.encodes) == asked


def test_a_fact_is_refreshed_only_so_often(
    engine: TroubledEngine, tenant: Tenant, broker: redis.Redis, settings: Any
) -> None:
    settings.ENV = settings.ENV.model_copy(update={"refreshes": 2})
    use(tenant, "nearest(1)")
    (fact,) = around(tenant, 0)
    run_task(fact)
    keys = {served(fact).key}
    for angle in (16, 8, 4, 2, 1):
        around(tenant, angle)
        look(broker)
        keys.add(served(fact).key)
    assert (len(keys), served(fact).refreshes) == (3, 2)


def test_a_cheap_first_context_is_refined_to_the_best(
    engine: TroubledEngine, store: BlobStore, tenant: Tenant, broker: redis.Redis
) -> None:
    use(tenant, "window(2)>nearest(2)")
    facts = around(tenant, 0, 90, 10, 100)
    run_task(facts[0])
    assert len(engine.encodes) == 1, "all in one pass"
    assert {served(fact).strategy for fact in facts} == {"window(2)/2"}
    first = {fact.pk: served_key(tenant, fact) for fact in facts}
    assert None not in first.values()
    look(broker)
    assert {served(fact).strategy for fact in facts} == {"nearest(2)/1"}
    assert served(facts[0]).context_fact_ids == [facts[1].pk, facts[2].pk]
    assert served(facts[0]).refreshes == 0, "the first time is no refresh"
    better = {fact.pk: served_key(tenant, fact) for fact in facts}
    assert None not in better.values()
    assert not set(better.values()) & set(first.values())
    assert Encoding.objects.filter(fact=None, state="ready").count() == 1, "both stages share the header"
    finished(sweep)
    assert {served(fact).strategy for fact in facts} == {"nearest(2)/1"}, "neither stage is outdated"


def test_a_fact_of_two_stages_is_encoded_by_the_first_alone(engine: TroubledEngine, tenant: Tenant) -> None:
    use(tenant, "window(2)>nearest(2)")
    (fact,) = around(tenant, 0)
    run_task(fact)
    run_task(fact)
    assert [encoding.strategy for encoding in Encoding.objects.filter(fact=fact)] == ["window(2)/2"]


@pytest.mark.parametrize("change", ["delete", "update"])
def test_readers_of_a_deleted_or_changed_fact_are_dropped_at_once(
    engine: TroubledEngine, store: BlobStore, tenant: Tenant, broker: redis.Redis, change: str
) -> None:
    """Those that were replaced a moment ago too, although requests may still want them."""
    use(tenant, "nearest(1)")
    fact, other = around(tenant, 0, 90)
    former = encode(fact)
    (near,) = around(tenant, 10)
    look(broker)
    better = served(fact)
    assert (former.context_fact_ids, better.context_fact_ids) == ([other.pk], [near.pk])
    for read, key in ((other, former.key), (near, better.key)):
        assert store.exists(key)
        if change == "delete":
            fact_delete(fact=read)
        else:
            fact_update(fact=read, text=f"{read.text} It was.")
        finished(drop_stale, tenant.pk, fact.owner_id)
        assert not store.exists(key)
        assert key in engine.dropped


def test_a_context_deleted_while_it_is_refined_is_in_no_blob(
    engine: TroubledEngine, store: BlobStore, tenant: Tenant, broker: redis.Redis
) -> None:
    use(tenant, "nearest(1)")
    (fact,) = around(tenant, 0)
    former = encode(fact)
    (near,) = around(tenant, 10)
    made = list[str]()

    def encode_late(body: Body) -> Reply:
        if not made:
            fact_delete(fact=near)
        made.extend(span["key"] for span in body["kv_transfer_params"]["spans"])
        write_asked(store, body)
        return accept_all(body)

    engine.encode = encode_late
    look(broker)
    finished(drop_stale, tenant.pk, fact.owner_id)
    assert served_key(tenant, fact) == former.key
    assert made
    assert not any(store.exists(key) for key in made)


@pytest.mark.parametrize("status", [400, 500])
def test_a_refinement_that_fails_leaves_what_is_served(
    engine: TroubledEngine, tenant: Tenant, broker: redis.Redis, status: int, settings: Any
) -> None:
    settings.ENV = settings.ENV.model_copy(update={"refreshes": 2})
    use(tenant, "window(1)>nearest(1)")
    fact, _ = around(tenant, 0, 10)
    former = encode(fact)
    engine.encode = lambda body: (status, {"error": {"message": "no"}})
    for _ in range(4):
        look(broker)
    assert served_key(tenant, fact) == former.key
    assert served(fact).refreshes == 2, "it is given up"
    assert not Encoding.objects.filter(state__in=("pending", "failed")).exists()
    asked = len(engine.encodes)
    look(broker)
    assert len(engine.encodes) == asked


def test_an_engine_that_is_away_costs_time_alone(
    engine: TroubledEngine, store: BlobStore, tenant: Tenant, broker: redis.Redis, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(tenant, "window(1)>nearest(1)")
    fact, _ = around(tenant, 0, 10)
    former = encode(fact)
    engine.encode = lambda body: (503, {})
    look(broker)
    assert served_key(tenant, fact) == former.key
    engine.encode = encoding_into(store)
    look(broker)
    assert served_key(tenant, fact) == former.key, "what was begun a moment ago may still be under way"
    Encoding.objects.update(updated_at=timezone.now() - timedelta(hours=1))
    look(broker)
    assert served(fact).strategy == "nearest(1)/1"


@pytest.mark.parametrize("work", ["task", "pending", "extraction"])
def test_other_work_comes_first(
    engine: TroubledEngine, tenant: Tenant, broker: redis.Redis, work: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    use(tenant, "window(1)>nearest(1)")
    fact, _ = around(tenant, 0, 10)
    run_task(fact)
    broker.flushdb()
    if work == "task":
        assert enqueue(ENCODE_FACT, tenant.pk, fact.pk)
    elif work == "pending":
        (other,) = add_facts(tenant, "Bob lives in Lisbon.", scopes=Scopes(user_id="bob"))
        Encoding.objects.create(tenant=tenant, owner=other.owner, fact=other, fingerprint="f", strategy="s")
        broker.flushdb()
    else:
        extraction_request(tenant=tenant, scopes=ALICE, messages=[Message("user", "Ann moved to Rome.")])
        broker.flushdb()
        assert Extraction.objects.exists()
    finished(refine)
    assert served(fact).strategy == "window(1)/2"


def test_other_tenants_facts_are_no_context(
    engine: TroubledEngine, tenant: Tenant, people: Any, broker: redis.Redis
) -> None:
    use(tenant, "nearest(4)")
    (fact,) = around(tenant, 0)
    run_task(fact)
    with tenant_scope(people.other_tenant):
        around(people.other_tenant, 1, 2)
    around(tenant, 3, scopes=Scopes(user_id="bob"))
    (near,) = around(tenant, 10)
    look(broker)
    assert served(fact).context_fact_ids == [near.pk]


@pytest.fixture(autouse=True)
def blobs_are_not_long_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs.Blobs.wait_for, "__defaults__", (0.05,))
