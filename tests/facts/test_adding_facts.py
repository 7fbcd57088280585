from datetime import timedelta

import pytest
from django.utils import timezone
from facts.errors import InvalidInputError
from facts.models import Event, Fact, FactHistory, Owner, Turn
from facts.scopes import Scopes
from facts.selectors import owner_get
from facts.services import Message, facts_add
from tenants.models import Tenant

from tests.factories import ALICE, add_facts


def test_each_message_becomes_a_fact_with_its_turn_and_history(tenant: Tenant) -> None:
    moment = timezone.now() - timedelta(days=3)
    result = facts_add(
        tenant=tenant,
        scopes=Scopes(user_id="alice", run_id="monday"),
        messages=[Message("user", "Alice keeps bees."), Message("assistant", "Bees make honey.")],
        metadata={"topic": "bees"},
        categories=["hobby", "hobby"],
        occurred_at=moment,
        actor="key 1",
    )
    assert [added.event for added in result.facts] == ["ADD", "ADD"]
    first = Fact.objects.get(pk=result.facts[0].fact.pk)
    assert (first.text, first.metadata, first.categories) == ("Alice keeps bees.", {"topic": "bees"}, ["hobby"])
    assert (first.user_id, first.agent_id, first.run_id, first.occurred_at) == ("alice", "", "monday", moment)
    turns = Turn.objects.order_by("created_at").values_list("role", "content", "run_id")
    assert list(turns) == [("user", "Alice keeps bees.", "monday"), ("assistant", "Bees make honey.", "monday")]
    assert first.source_turn is not None
    assert first.source_turn.content == "Alice keeps bees."
    entry = FactHistory.objects.get(fact_id=first.pk)
    assert (entry.event, entry.old_text, entry.new_text, entry.actor) == ("ADD", "", "Alice keeps bees.", "key 1")


def test_the_event_names_facts_without_their_text(tenant: Tenant) -> None:
    facts = add_facts(tenant, "Alice keeps bees.")
    event = Event.objects.get()
    assert (event.event_type, event.status) == ("ADD", "SUCCEEDED")
    assert event.results == [{"id": str(facts[0].pk), "event": "ADD"}]


def test_facts_of_one_call_keep_their_order(tenant: Tenant) -> None:
    texts = [f"Fact number {number}." for number in range(30)]
    add_facts(tenant, *texts)
    assert list(Fact.objects.order_by("created_at").values_list("text", flat=True)) == texts


def test_the_first_scope_named_owns_the_memory(tenant: Tenant) -> None:
    add_facts(tenant, "a", scopes=Scopes(user_id="alice", agent_id="butler"))
    add_facts(tenant, "b", scopes=Scopes(agent_id="butler", run_id="monday"))
    assert list(Owner.objects.order_by("kind").values_list("kind", "name")) == [("agent", "butler"), ("user", "alice")]
    found = owner_get(tenant=tenant, scopes=Scopes(agent_id="butler"))
    assert found is not None
    assert found.facts.get().text == "b"


def test_metadata_cannot_override_scopes(tenant: Tenant) -> None:
    facts_add(tenant=tenant, scopes=ALICE, messages=[Message("user", "x")], metadata={"user_id": "bob"})
    assert Fact.objects.get().user_id == "alice"


def test_a_vector_is_stored_with_the_fact(tenant: Tenant) -> None:
    fact = add_facts(tenant, "Alice keeps bees.")[0]
    fact.refresh_from_db()
    assert fact.embedding is not None
    assert (len(bytes(fact.embedding)), fact.embedding_model) == (384 * 4, "demo")


def test_an_expiry_in_the_past_is_refused(tenant: Tenant) -> None:
    with pytest.raises(InvalidInputError, match="future"):
        facts_add(
            tenant=tenant, scopes=ALICE, messages=[Message("user", "x")], expires_at=timezone.now() - timedelta(days=1)
        )
    assert not Fact.objects.exists()


def test_a_message_that_lists_facts_becomes_their_turn(tenant: Tenant) -> None:
    said_at = timezone.now() - timedelta(days=2)
    result = facts_add(
        tenant=tenant,
        scopes=ALICE,
        messages=[
            Message("Ann", "I got bees, and a hat!", facts=("Ann keeps bees.", "Ann has a hat."), said_at=said_at),
            Message("Bob", "Lovely.", facts=()),
        ],
    )
    assert [added.fact.text for added in result.facts] == ["Ann keeps bees.", "Ann has a hat."]
    assert {fact.source_turn.content for fact in Fact.objects.all() if fact.source_turn} == {"I got bees, and a hat!"}
    assert {fact.occurred_at for fact in Fact.objects.all()} == {said_at}
    assert list(Turn.objects.order_by("created_at").values_list("role", flat=True)) == ["Ann", "Bob"]
