"""Facts of one owner that follow each other are encoded by one request, each behind all that stands before it."""

from typing import Any
from uuid import UUID

import pytest
import redis
from facts.models import Encoding, Fact
from facts.scopes import Scopes
from facts.services import encoding_start, encodings_take, fact_delete
from tenants.models import Tenant
from tenants.scope import tenant_scope

from memory.store import BlobStore
from tests.factories import add_facts
from tests.workers.helpers import (
    encoding_into,
    encoding_of,
    finished,
    header_of_plan,
    pass_of,
    run_task,
    tasks_in,
    write_asked,
)
from tests.workers.troubled_engine import Body, Reply, TroubledEngine, accept_all
from workers import blobs
from workers.attempts import MAX_FAILURES
from workers.encode import encode_fact
from workers.model import encoding_model
from workers.tiering import drop_stale

pytestmark = pytest.mark.django_db(transaction=True)
STRATEGY = "window(2)/2"
TEXTS = ("Bob lives in Lisbon.", "Ann has a parrot.", "Bob likes ships.", "Kiwi likes apples.", "Ann rows.")
LONG_AGO = "2020-01-01T00:00Z"


@pytest.fixture(autouse=True)
def blobs_are_not_long_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blobs.Blobs.wait_for, "__defaults__", (0.05,))


@pytest.fixture
def tenant(tenant: Tenant) -> Tenant:
    Tenant.objects.filter(pk=tenant.pk).update(strategy="window(2)")
    tenant.refresh_from_db()
    return tenant


@pytest.fixture
def facts(store: BlobStore, engine: TroubledEngine, tenant: Tenant) -> list[Fact]:
    """An engine without trouble stands ready."""
    engine.encode = encoding_into(store)
    return add_facts(tenant, *TEXTS)


def contexts(*facts: Fact) -> list[list[UUID]]:
    return [encoding_of(fact).context_fact_ids for fact in facts]


def states(*facts: Fact) -> list[str]:
    return [encoding_of(fact).state for fact in facts]


def spans(body: Body) -> int:
    return len(body["kv_transfer_params"]["spans"])


def take(fact: Fact, *followers: Fact) -> list[Encoding]:
    """As the task of another process would that has just begun."""
    names = {"fingerprint": encoding_model().fingerprint, "strategy": STRATEGY}
    return encodings_take(fact=fact, followers=[follower.pk for follower in followers], **names)


def test_one_request_encodes_all_that_is_new(store: BlobStore, engine: TroubledEngine, facts: list[Fact]) -> None:
    run_task(facts[0])
    (body,) = engine.encodes
    plan = pass_of(facts, strategy=STRATEGY)
    assert body["prompt"] == plan.token_ids
    assert [span["key"] for span in body["kv_transfer_params"]["spans"]] == [
        header_of_plan(plan).key,
        *(line.key for line in plan.lines),
    ]
    assert states(*facts) == ["ready"] * 5
    assert [encoding_of(fact).key for fact in facts] == [line.key for line in plan.lines]
    assert all(store.exists(line.key) for line in plan.lines)


def test_all_that_stands_before_a_fact_is_its_context(facts: list[Fact]) -> None:
    run_task(facts[0])
    ids = [fact.pk for fact in facts]
    assert contexts(*facts) == [ids[:index] for index in range(5)]


def test_the_first_of_a_later_pass_has_n_facts_before_it(
    engine: TroubledEngine, tenant: Tenant, facts: list[Fact]
) -> None:
    run_task(facts[0])
    later = add_facts(tenant, "Ann sails.", "Bob swims.")
    run_task(later[0])
    assert contexts(*later) == [
        [facts[3].pk, facts[4].pk],
        [facts[3].pk, facts[4].pk, later[0].pk],
    ]
    assert engine.encodes[-1]["prompt"] == pass_of(later, *facts[3:], strategy=STRATEGY).token_ids


def test_the_followers_own_tasks_find_it_done(engine: TroubledEngine, facts: list[Fact]) -> None:
    for fact in facts:
        run_task(fact)
    assert len(engine.encodes) == 1
    assert [encoding_of(fact).attempts for fact in facts] == [1] * 5


def test_a_pass_has_a_size(engine: TroubledEngine, facts: list[Fact], settings: Any) -> None:
    size = len(pass_of(facts[:2], strategy=STRATEGY).token_ids)
    settings.ENV = settings.ENV.model_copy(update={"encode_tokens": size})
    for fact in facts:
        run_task(fact)
    assert [spans(body) for body in engine.encodes] == [3, 1, 1, 1], "the first with the header"
    assert states(*facts) == ["ready"] * 5
    assert contexts(facts[2]) == [[facts[0].pk, facts[1].pk]]


def test_neighbours_are_encoded_one_by_one(engine: TroubledEngine, tenant: Tenant, facts: list[Fact]) -> None:
    Tenant.objects.filter(pk=tenant.pk).update(strategy="neighbours(2)")
    for fact in facts:
        run_task(fact)
    assert [spans(body) for body in engine.encodes] == [2, 1, 1, 1, 1]


def test_a_pass_ends_before_what_is_ready(engine: TroubledEngine, tenant: Tenant, facts: list[Fact]) -> None:
    run_task(facts[2])
    run_task(facts[0])
    assert [spans(body) for body in engine.encodes] == [4, 2]
    assert contexts(*facts[:3]) == [[], [facts[0].pk], [facts[0].pk, facts[1].pk]]


def test_a_pass_ends_before_a_text_that_it_has_already(
    store: BlobStore, engine: TroubledEngine, tenant: Tenant
) -> None:
    engine.encode = encoding_into(store)
    first = add_facts(tenant, "Bob lives in Lisbon.", "Ann rows.")
    again = add_facts(tenant, "Bob lives in Lisbon.", "Kiwi sings.", scopes=Scopes(user_id="alice", run_id="two"))
    for fact in (*first, *again):
        run_task(fact)
    assert [spans(body) for body in engine.encodes] == [3, 2]
    assert contexts(*again) == [[first[1].pk], [first[1].pk, again[0].pk]]
    assert states(*first, *again) == ["ready"] * 4


def test_facts_in_anothers_pass_are_left_to_it(engine: TroubledEngine, facts: list[Fact]) -> None:
    take(facts[2], *facts[3:])
    run_task(facts[3])
    assert engine.encodes == []
    run_task(facts[0])
    assert [spans(body) for body in engine.encodes] == [3]
    assert states(*facts) == ["ready", "ready", "pending", "pending", "pending"]
    run_task(facts[2])
    assert states(*facts) == ["ready"] * 5


def test_a_pass_that_was_not_heard_of_for_long_is_over(engine: TroubledEngine, facts: list[Fact]) -> None:
    take(facts[0], *facts[1:])
    Encoding.objects.update(updated_at=LONG_AGO)
    run_task(facts[1])
    assert states(*facts) == ["pending", "ready", "ready", "ready", "ready"]
    assert len(engine.encodes) == 1


def test_a_pass_given_to_another_process_is_taken_up(engine: TroubledEngine, facts: list[Fact]) -> None:
    take(facts[0], *facts[1:])
    run_task(facts[0])
    assert states(*facts) == ["ready"] * 5
    assert len(engine.encodes) == 1


def test_an_engine_that_was_away_gets_the_same_pass(
    store: BlobStore, engine: TroubledEngine, facts: list[Fact]
) -> None:
    def away_at_first(body: Body) -> Reply:
        return encoding_into(store)(body) if len(engine.encodes) > 2 else (503, {})

    engine.encode = away_at_first
    run_task(facts[0])
    assert [spans(body) for body in engine.encodes] == [6, 6, 6]
    assert states(*facts) == ["ready"] * 5


def test_of_a_pass_that_breaks_each_is_tried_by_itself(
    store: BlobStore, engine: TroubledEngine, tenant: Tenant, facts: list[Fact], broker: redis.Redis
) -> None:
    """One of them breaks the engine; it fails, the others do not."""
    poison = encoding_model().template.tokenizer.encode(" parrot", add_special_tokens=False)[0]
    keys = set[str]()

    def breaking(body: Body) -> Reply:
        asked = body["kv_transfer_params"]["spans"]
        if any(poison in body["prompt"][span["start"] : span["end"]] for span in asked):
            return 500, {}
        keys.update(span["key"] for span in asked)
        return encoding_into(store)(body)

    engine.encode = breaking
    broker.flushdb()
    run_task(facts[0])
    assert states(facts[0]) == ["ready"]
    sent = tasks_in(broker, "encode")
    assert sent == [(encode_fact.name, [str(tenant.pk), str(fact.pk)]) for fact in facts[1:]]
    before = len(engine.encodes)
    for fact in facts[1:]:
        run_task(fact)
    assert states(*facts) == ["ready", "failed", "ready", "ready", "ready"]
    assert len(engine.encodes) - before == MAX_FAILURES + 3
    assert contexts(facts[3]) == [[facts[1].pk, facts[2].pk]], "as text it hurts nobody"


def test_a_pass_that_is_refused_is_tried_one_by_one(
    store: BlobStore, engine: TroubledEngine, facts: list[Fact]
) -> None:
    engine.encode = lambda body: (400, {}) if spans(body) > 2 else encoding_into(store)(body)
    for fact in facts:
        run_task(fact)
    assert [spans(body) for body in engine.encodes] == [6, 2, 1, 1, 1, 1]
    assert states(*facts) == ["ready"] * 5


def test_spans_that_are_accepted_are_served_whatever_becomes_of_the_others(
    store: BlobStore, engine: TroubledEngine, tenant: Tenant, facts: list[Fact], broker: redis.Redis
) -> None:
    def accepts_three(body: Body) -> Reply:
        body["kv_transfer_params"]["spans"] = body["kv_transfer_params"]["spans"][:3]
        return encoding_into(store)(body)

    engine.encode = accepts_three
    broker.flushdb()
    run_task(facts[0])
    assert states(*facts) == ["ready", "ready", "pending", "pending", "pending"]
    assert len(tasks_in(broker, "encode")) == 3
    run_task(facts[2])
    assert states(facts[2]) == ["ready"]


def test_blobs_that_are_there_are_not_asked_for_again(
    store: BlobStore, engine: TroubledEngine, facts: list[Fact]
) -> None:
    plan = pass_of(facts, strategy=STRATEGY)

    def write_some(body: Body) -> Reply:
        if len(engine.encodes) == 1:
            asked = body["kv_transfer_params"]
            write_asked(store, {**body, "kv_transfer_params": {"spans": asked["spans"][:3]}})
            return 503, {}
        return encoding_into(store)(body)

    engine.encode = write_some
    run_task(facts[0])
    assert [spans(body) for body in engine.encodes] == [6, 3]
    assert [span["key"] for span in engine.encodes[1]["kv_transfer_params"]["spans"]] == [
        line.key for line in plan.lines[2:]
    ]
    assert states(*facts) == ["ready"] * 5


def test_a_fact_deleted_while_the_engine_works_is_in_no_blob(
    store: BlobStore, engine: TroubledEngine, tenant: Tenant, facts: list[Fact], broker: redis.Redis
) -> None:
    plan = pass_of(facts, strategy=STRATEGY)

    def meanwhile_deleted(body: Body) -> Reply:
        with tenant_scope(tenant):
            fact_delete(fact=facts[2])
        write_asked(store, body)
        return accept_all(body)

    engine.encode = meanwhile_deleted
    broker.flushdb()
    run_task(facts[0])
    assert states(*facts[:2]) == ["ready", "ready"]
    assert [store.exists(line.key) for line in plan.lines] == [True, True, False, False, False]
    assert {line.key for line in plan.lines[2:]} <= engine.dropped
    sent = {arguments[1] for name, arguments in tasks_in(broker, "encode") if name == encode_fact.name}
    assert sent == {str(fact.pk) for fact in facts[3:]}
    finished(drop_stale, tenant.pk, facts[0].owner_id)
    engine.encode = encoding_into(store)
    run_task(facts[3])
    ids = [facts[0].pk, facts[1].pk]
    assert contexts(*facts[3:]) == [ids, [*ids, facts[3].pk]]


def test_a_fact_deleted_before_its_pass_begins_is_not_in_its_prompt(engine: TroubledEngine, facts: list[Fact]) -> None:
    fact_delete(fact=facts[1])
    run_task(facts[0])
    left = [facts[0], *facts[2:]]
    assert engine.encodes[0]["prompt"] == pass_of(left, strategy=STRATEGY).token_ids
    assert contexts(*left) == [[fact.pk for fact in left[:index]] for index in range(4)]


def test_deleting_a_fact_drops_all_that_was_computed_behind_it(
    store: BlobStore, engine: TroubledEngine, tenant: Tenant, facts: list[Fact]
) -> None:
    run_task(facts[0])
    keys = [encoding_of(fact).key for fact in facts]
    fact_delete(fact=facts[1])
    finished(drop_stale, tenant.pk, facts[0].owner_id)
    assert [store.exists(key) for key in keys] == [True, False, False, False, False]
    run_task(facts[2])
    assert states(facts[0], *facts[2:]) == ["ready"] * 4


def test_a_failed_fact_ends_a_pass_and_is_context_of_the_next(engine: TroubledEngine, facts: list[Fact]) -> None:
    names = {"fingerprint": encoding_model().fingerprint, "strategy": STRATEGY}
    failed = encoding_start(fact_or_owner=facts[1], **names)
    Encoding.objects.filter(pk=failed.pk).update(state="failed")
    run_task(facts[0])
    run_task(facts[2])
    assert states(*facts) == ["ready", "failed", "ready", "ready", "ready"]
    assert contexts(facts[2]) == [[facts[0].pk, facts[1].pk]]
