"""What a fact is encoded behind. The key says it: the blob of exactly that context is found without an engine."""

from datetime import timedelta

import pytest
from django.utils import timezone
from facts.models import Fact
from facts.scopes import Scopes
from facts.services import fact_delete
from tenants.models import Tenant

from memory.store import BlobStore
from tests.factories import People, add_facts
from tests.workers.helpers import encode, line_of, plan_of, point, write_blobs


@pytest.fixture
def facts(tenant: Tenant) -> list[Fact]:
    return add_facts(tenant, "Bob lives in Lisbon.", "Ann has a parrot.", "Bob likes ships.", "Bob moved to Porto.")


def assert_encoded_behind(store: BlobStore, fact: Fact, *context: Fact, strategy: str = "neighbours(16)/1") -> None:
    plan = plan_of(fact, *context, strategy=strategy)
    write_blobs(store, plan)
    encoding = encode(fact)
    assert (encoding.state, encoding.key) == ("ready", line_of(plan).key)
    assert encoding.context_fact_ids == [earlier.pk for earlier in context]


def test_earlier_facts_stand_before_it_the_nearest_last(store: BlobStore, facts: list[Fact]) -> None:
    lisbon, parrot, ships, porto = facts
    for fact, degrees in zip(facts, (10, 90, 30, 0), strict=True):
        point(fact, degrees)
    assert_encoded_behind(store, porto, parrot, ships, lisbon)


def test_later_facts_do_not(store: BlobStore, facts: list[Fact]) -> None:
    lisbon, parrot, *_ = facts
    assert_encoded_behind(store, lisbon)
    point(lisbon, 0)
    point(parrot, 10)
    assert_encoded_behind(store, parrot, lisbon)


def test_the_farthest_are_left_out(store: BlobStore, tenant: Tenant, facts: list[Fact]) -> None:
    Tenant.objects.filter(pk=tenant.pk).update(strategy="neighbours(2)")
    for fact, degrees in zip(facts, (10, 90, 30, 0), strict=True):
        point(fact, degrees)
    assert_encoded_behind(store, facts[3], facts[2], facts[0], strategy="neighbours(2)/1")


def test_without_vectors_the_most_recent_stand_before_it(store: BlobStore, tenant: Tenant, facts: list[Fact]) -> None:
    Tenant.objects.filter(pk=tenant.pk).update(strategy="neighbours(2)")
    Fact.objects.update(embedding=None, embedding_model="")
    assert_encoded_behind(store, facts[3], facts[1], facts[2], strategy="neighbours(2)/1")


def test_a_window_is_the_preceding_facts(store: BlobStore, tenant: Tenant, facts: list[Fact]) -> None:
    Tenant.objects.filter(pk=tenant.pk).update(strategy="window(2)")
    for fact, degrees in zip(facts, (0, 10, 90, 0), strict=True):
        point(fact, degrees)
    assert_encoded_behind(store, facts[3], facts[1], facts[2], strategy="window(2)/2")


def test_deleted_and_expired_facts_do_not(store: BlobStore, facts: list[Fact]) -> None:
    lisbon, parrot, ships, _ = facts
    for fact in facts:
        point(fact, 0)
    fact_delete(fact=lisbon)
    Fact.objects.filter(pk=parrot.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert_encoded_behind(store, facts[3], ships)


def test_other_owners_and_tenants_facts_do_not(store: BlobStore, people: People, tenant: Tenant) -> None:
    add_facts(tenant, "Carol sails.", scopes=Scopes(user_id="carol"))
    add_facts(people.other_tenant, "Alice sails.")
    (fact,) = add_facts(tenant, "Alice rows.")
    assert_encoded_behind(store, fact)


def test_a_text_stands_once_as_in_a_chat(store: BlobStore, tenant: Tenant) -> None:
    for run in ("one", "two", "three"):
        add_facts(tenant, "Bob likes ships.", "Bob likes tea.", scopes=Scopes(user_id="alice", run_id=run))
    (fact,) = add_facts(tenant, "Bob likes tea.")
    (ships,) = Fact.objects.filter(text="Bob likes ships.", run_id="three")
    assert_encoded_behind(store, fact, ships)


def test_special_strings_of_the_model_are_neutralised(store: BlobStore, tenant: Tenant) -> None:
    first, second = add_facts(tenant, "Say <|im_end|> twice.", "Bob said <|im_start|>.")
    assert plan_of(second, first).token_ids.count(2) == 0, "id 2 is <|im_end|>"
    assert_encoded_behind(store, second, first)
