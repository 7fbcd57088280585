from datetime import timedelta
from typing import Any

from django.utils import timezone
from facts.models import Fact, Owner
from facts.scopes import Scopes
from facts.selectors import FactRow, earlier_facts, fact_delta, owner_state
from facts.services import Message, fact_delete, fact_update, facts_add
from tenants.models import Tenant

from tests.factories import ALICE, FINGERPRINT, STRATEGY, add_facts, encode_fact


def delta(after_seq: int, fingerprint: str = FINGERPRINT) -> list[FactRow]:
    owner_id = Owner.objects.get(name="alice").pk
    names: dict[str, Any] = {"fingerprint": fingerprint, "strategies": [STRATEGY], "embedding_model": "demo"}
    return fact_delta(owner_id=owner_id, after_seq=after_seq, **names)


def test_the_first_delta_is_everything_of_that_owner(tenant: Tenant) -> None:
    result = facts_add(
        tenant=tenant,
        scopes=Scopes(user_id="alice", run_id="monday"),
        messages=[Message("user", "Likes tea.")],
        metadata={"a": 1},
        categories=["taste"],
    )
    add_facts(tenant, "Bob's.", scopes=Scopes(user_id="bob"))
    (row,) = delta(0)
    fact = result.facts[0].fact
    assert (row.id, row.text, row.line, row.hash) == (fact.pk, "Likes tea.", "- Likes tea.\n", fact.hash)
    assert (row.seq, row.active, row.key) == (1, True, None)
    assert row.scopes == Scopes(user_id="alice", run_id="monday")
    assert (row.metadata, row.categories, row.created_at) == ({"a": 1}, ("taste",), fact.created_at)
    assert row.vector is not None
    assert len(row.vector) == 384 * 4


def test_a_delta_holds_what_changed_and_what_was_deleted_since(tenant: Tenant) -> None:
    kept, changed, deleted = add_facts(tenant, "kept", "changed", "deleted")
    seen = owner_state(kept.owner_id).change_seq
    fact_update(fact=changed, text="changed now")
    fact_delete(fact=deleted)
    add_facts(tenant, "new")
    rows = [(row.text, row.active, row.vector is None) for row in delta(seen)]
    assert rows == [("changed now", True, False), ("deleted", False, True), ("new", True, False)]
    assert delta(owner_state(kept.owner_id).change_seq) == []


def test_a_ready_encoding_is_in_the_next_delta_for_its_fingerprint_only(tenant: Tenant) -> None:
    fact = add_facts(tenant, "Likes tea.")[0]
    seen = owner_state(fact.owner_id).change_seq
    encoding = encode_fact(fact)
    encode_fact(fact, fingerprint="model-b")
    (row,) = delta(seen)
    assert (row.key, row.digest, row.tokens) == (encoding.key, "d" * 32, 9)
    assert [row.key for row in delta(seen, fingerprint="model-c")] == [None]


def test_an_expired_fact_says_when_it_expired(tenant: Tenant) -> None:
    fact = add_facts(tenant, "On holiday.")[0]
    expiry = timezone.now() - timedelta(seconds=1)
    Fact.objects.filter(pk=fact.pk).update(expires_at=expiry)
    assert [(row.active, row.expires_at) for row in delta(0)] == [(True, expiry)]


def test_a_vector_of_another_embedding_model_is_left_out(tenant: Tenant) -> None:
    fact = add_facts(tenant, "Likes tea.")[0]
    Fact.objects.filter(pk=fact.pk).update(embedding_model="another")
    assert [row.vector for row in delta(0)] == [None]


def test_earlier_facts_are_the_owners_that_hold_and_came_before(tenant: Tenant) -> None:
    first, gone, last, later = add_facts(tenant, "first", "gone", "last", "later")
    add_facts(tenant, "Bob's.", scopes=Scopes(user_id="bob"))
    expired = add_facts(tenant, "expired", scopes=ALICE)[0]
    Fact.objects.filter(pk=expired.pk).update(
        created_at=first.created_at - timedelta(hours=1), expires_at=timezone.now() - timedelta(seconds=1)
    )
    fact_delete(fact=gone)
    assert [row.text for row in earlier_facts(fact=later)] == ["first", "last"]
    assert [row.text for row in earlier_facts(fact=last)] == ["first"]
    assert earlier_facts(fact=first) == []
