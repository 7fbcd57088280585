"""What is found in conversations, stored beside what is known already."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection
from django.utils import timezone
from facts.inputs import FoundFact
from facts.models import Event, Fact, FactHistory, Owner
from facts.scopes import Scopes
from facts.selectors import extraction_turns, fact_delta, fact_history, pairs_unsure
from facts.services import (
    Message,
    fact_delete,
    fact_update,
    facts_add,
    facts_delete,
    facts_remember,
)
from facts.text import text_hash
from facts.truth import Relation
from tenants.models import Tenant
from tenants.scope import tenant_scope

from tests.factories import ALICE, People, add_facts, encode_fact
from tests.facts.remembering import active, kinds, remember, started

PARALLEL = 20
MARCH, APRIL = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)


def test_a_fact_knows_the_turn_that_said_it_and_the_job_that_found_it(tenant: Tenant) -> None:
    event = remember(tenant, "Ana keeps bees.", "Ana has a dog.", at=MARCH)
    bees, dog = Fact.objects.order_by("created_at")
    assert (bees.source_turn.content, dog.source_turn.content) == ("Ana keeps bees.", "Ana has a dog.")  # type: ignore[union-attr]
    assert {bees.source_event_id, dog.source_event_id} == {event.pk}
    assert event.results == [{"id": str(bees.pk), "event": "ADD"}, {"id": str(dog.pk), "event": "ADD"}]
    assert bees.valid_from == MARCH


@pytest.mark.parametrize(
    ("stored", "again"),
    [
        ("Ana keeps bees.", "ana keeps  bees"),
        ("Ana lives in Berlin.", "Ana moved to Berlin."),
        ("Ana runs every morning.", "Every morning Ana runs."),
        ("Ana lives in Berlin, Germany.", "Ana lives in Berlin."),
    ],
)
def test_what_is_known_is_not_stored_again(tenant: Tenant, stored: str, again: str) -> None:
    remember(tenant, stored)
    event = remember(tenant, again)
    fact = Fact.objects.get()
    assert fact.text == stored
    assert event.results == [{"id": str(fact.pk), "event": "NONE"}]
    assert FactHistory.objects.count() == 1


def test_a_fact_given_as_it_is_counts_as_known(tenant: Tenant) -> None:
    facts_add(tenant=tenant, scopes=ALICE, messages=[Message("user", "Ana keeps bees.")])
    assert kinds(remember(tenant, "ANA KEEPS BEES!")) == ["NONE"]


def test_the_same_said_twice_in_one_conversation_is_one_fact(tenant: Tenant) -> None:
    assert kinds(remember(tenant, "Ana keeps bees.", "Ana keeps bees!")) == ["ADD", "NONE"]
    assert active(tenant) == ["Ana keeps bees."]


def test_a_contradiction_supersedes_and_the_old_fact_keeps_how_long_it_held(tenant: Tenant) -> None:
    remember(tenant, "Ana lives in Berlin.", at=MARCH)
    owner = Owner.objects.get()
    event = remember(tenant, "Ana moved to Paris.", at=APRIL)
    old, new = Fact.objects.order_by("created_at")
    assert active(tenant) == ["Ana moved to Paris."]
    assert (old.status, old.superseded_by_id, old.embedding) == ("superseded", new.pk, None)
    assert (old.valid_from, old.valid_until, new.valid_from, new.valid_until) == (MARCH, APRIL, APRIL, None)
    ended = fact_history(tenant=tenant, fact_id=old.pk).last()
    assert ended is not None
    assert (ended.event, ended.old_text, ended.superseded_by) == ("DELETE", "Ana lives in Berlin.", new.pk)
    assert (ended.valid_from, ended.valid_until) == (MARCH, APRIL)
    assert event.results == [
        {"id": str(new.pk), "event": "ADD"},
        {"id": str(old.pk), "event": "DELETE", "superseded_by": str(new.pk)},
    ]
    assert Owner.objects.get().erasure_epoch == owner.erasure_epoch + 1


def test_readers_that_follow_the_sequence_learn_of_both(tenant: Tenant) -> None:
    remember(tenant, "Ana lives in Berlin.")
    owner = Owner.objects.get()
    remember(tenant, "Ana moved to Paris.")
    rows = fact_delta(owner_id=owner.pk, after_seq=owner.change_seq, embedding_model=tenant.embedding_model)
    assert {row.text: row.active for row in rows} == {"Ana lives in Berlin.": False, "Ana moved to Paris.": True}


def test_the_kv_of_a_superseded_fact_and_of_those_behind_it_goes_stale(tenant: Tenant) -> None:
    remember(tenant, "Ana lives in Berlin.", "Ana keeps bees.")
    berlin, bees = Fact.objects.order_by("created_at")
    encodings = [encode_fact(berlin), encode_fact(bees, context=[berlin])]
    remember(tenant, "Ana moved to Paris.")
    for encoding in encodings:
        encoding.refresh_from_db()
    assert [encoding.state for encoding in encodings] == ["stale", "stale"]


def test_within_one_conversation_the_later_turn_counts(tenant: Tenant) -> None:
    remember(tenant, "Ana lives in Berlin.", "Ana moved to Paris.", "Ana relocated to Rome.")
    assert active(tenant) == ["Ana relocated to Rome."]
    assert Fact.objects.filter(status="superseded").count() == 2
    berlin = Fact.objects.get(text="Ana lives in Berlin.")
    assert [entry.event for entry in fact_history(tenant=tenant, fact_id=berlin.pk)] == ["ADD", "DELETE"]


def test_what_comes_back_to_an_earlier_text_is_stored_anew(tenant: Tenant) -> None:
    remember(tenant, "Ana lives in Berlin.")
    remember(tenant, "Ana lives in Paris.", "Ana lives in Berlin.")
    assert active(tenant) == ["Ana lives in Berlin."]
    assert Fact.objects.filter(text="Ana lives in Berlin.").count() == 2


def test_an_older_statement_that_comes_late_is_history(tenant: Tenant) -> None:
    remember(tenant, "Ana lives in Paris.", at=APRIL)
    event = remember(tenant, "Ana lives in Berlin.", at=MARCH)
    assert active(tenant) == ["Ana lives in Paris."]
    old = Fact.objects.get(text="Ana lives in Berlin.")
    assert (old.status, old.valid_from, old.valid_until, old.embedding) == ("superseded", MARCH, APRIL, None)
    assert kinds(event) == ["ADD", "DELETE"]


def test_a_fact_that_says_more_takes_the_place_of_the_one_that_says_less(tenant: Tenant) -> None:
    remember(tenant, "Ana works at Acme.")
    assert kinds(remember(tenant, "Ana works at Acme in Lyon.")) == ["ADD", "DELETE"]
    assert active(tenant) == ["Ana works at Acme in Lyon."]


def test_a_contradiction_is_found_among_many_nearer_facts(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("facts.selectors.rivals.NEAREST", 2)
    facts_add(tenant=tenant, scopes=ALICE, messages=[Message("user", "Ana lives in Berlin.")])
    remember(tenant, "Ana likes Paris.", "Ana saw Paris.", "Ana moved a sofa to her aunt in Paris.")
    remember(tenant, "Ana moved to Paris.")
    assert Fact.objects.get(status="superseded").text == "Ana lives in Berlin."


def test_an_update_changes_what_a_fact_is_compared_by(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("facts.selectors.rivals.NEAREST", 0)
    (berlin,) = add_facts(tenant, "Ana keeps bees.")
    fact_update(fact=berlin, text="Ana lives in Berlin.")
    remember(tenant, "Ana moved to Paris.")
    assert active(tenant) == ["Ana moved to Paris."]


def test_an_immutable_fact_is_neither_superseded_nor_contradicted(tenant: Tenant) -> None:
    remember(tenant, "Ana lives in Berlin.", immutable=True)
    event = remember(tenant, "Ana moved to Paris.")
    fact = Fact.objects.get()
    assert (fact.text, fact.status) == ("Ana lives in Berlin.", "active")
    assert event.results == [{"id": str(fact.pk), "event": "NONE", "reason": "immutable"}]


def test_a_fact_that_expires_supersedes_none_that_outlives_it(tenant: Tenant) -> None:
    remember(tenant, "Ana lives in Berlin.")
    remember(tenant, "Ana lives in Paris.", expires_at=timezone.now() + timedelta(days=7))
    assert active(tenant) == ["Ana lives in Berlin.", "Ana lives in Paris."]


def test_an_expired_fact_contradicts_nothing_and_makes_room(tenant: Tenant) -> None:
    remember(tenant, "Ana lives in Berlin.", expires_at=timezone.now() + timedelta(days=1))
    Fact.objects.update(expires_at=timezone.now() - timedelta(minutes=1))
    assert kinds(remember(tenant, "Ana lives in Paris.")) == ["ADD"]
    assert kinds(remember(tenant, "Ana lives in Berlin.")) == ["ADD", "DELETE"]
    assert active(tenant) == ["Ana lives in Berlin."]


def test_what_is_said_again_holds_for_longer(tenant: Tenant) -> None:
    week, month = timezone.now() + timedelta(days=7), timezone.now() + timedelta(days=30)
    remember(tenant, "Ana is in Rome.", expires_at=week)
    assert kinds(remember(tenant, "Ana is in Rome.", expires_at=month)) == ["UPDATE"]
    assert kinds(remember(tenant, "Ana is in Rome.", expires_at=week)) == ["NONE"]
    assert Fact.objects.get().expires_at == month


def test_an_answer_that_comes_after_the_facts_would_have_expired_stores_none(tenant: Tenant) -> None:
    extraction = started(tenant, "Ana is in Rome.", expires_at=timezone.now() + timedelta(days=1))
    extraction.expires_at = timezone.now() - timedelta(seconds=1)
    (turn,) = extraction_turns(extraction=extraction)
    event = facts_remember(extraction=extraction, found=[FoundFact("Ana is in Rome.", turn.pk, turn.occurred_at)])
    assert event is not None
    assert (event.status, event.results, Fact.objects.count()) == ("SUCCEEDED", [], 0)


def test_other_scopes_and_other_tenants_are_not_compared(tenant: Tenant, people: People) -> None:
    remember(tenant, "Ana lives in Berlin.")
    remember(tenant, "Ana moved to Paris.", scopes=Scopes(user_id="bob"))
    remember(tenant, "Ana moved to Rome.", scopes=Scopes(user_id="alice", agent_id="guide"))
    remember(people.other_tenant, "Ana moved to Oslo.")
    assert not Fact.objects.filter(status="superseded").exists()


def test_pairs_that_rules_cannot_tell_apart_are_told_by_the_judgement(tenant: Tenant) -> None:
    old, new = "Ana lives in Berlin.", "Ana has settled down in Paris for good."
    remember(tenant, old)
    extraction = started(tenant, new)
    (turn,) = extraction_turns(extraction=extraction)
    found = [FoundFact(new, turn.pk, turn.occurred_at)]
    pairs = pairs_unsure(extraction=extraction, found=found, limit=10)
    assert [(pair.stored, pair.new) for pair in pairs] == [(old, new)]
    facts_remember(extraction=extraction, found=found, judged={pairs[0].hashes: Relation.CONTRADICTS})
    assert active(tenant) == [new]


def test_without_judgement_both_stay(tenant: Tenant) -> None:
    remember(tenant, "Ana lives in Berlin.")
    remember(tenant, "Ana has settled down in Paris for good.")
    assert len(active(tenant)) == 2


def test_a_judgement_does_not_overrule_rules(tenant: Tenant) -> None:
    remember(tenant, "Ana likes tea.")
    wrong = {(text_hash("Ana likes tea."), text_hash("Ana likes coffee.")): Relation.CONTRADICTS}
    remember(tenant, "Ana likes coffee.", judged=wrong)
    assert len(active(tenant)) == 2


def test_a_superseded_facts_text_is_forgotten_with_all_others(tenant: Tenant) -> None:
    remember(tenant, "Ana lives in Berlin.")
    remember(tenant, "Ana moved to Paris.")
    facts_delete(tenant=tenant, scopes=ALICE)
    assert set(Fact.objects.values_list("status", flat=True)) == {"deleted"}


def test_a_deleted_fact_is_not_known_any_more(tenant: Tenant) -> None:
    remember(tenant, "Ana lives in Berlin.")
    fact_delete(fact=Fact.objects.get())
    assert kinds(remember(tenant, "Ana lives in Berlin.")) == ["ADD"]


@pytest.mark.parametrize(
    "texts",
    [["Ana keeps bees."] * PARALLEL, ["Ana runs every morning.", "Every morning Ana runs."] * (PARALLEL // 2)],
    ids=["equal", "nearly equal"],
)
def test_of_many_parallel_conversations_that_say_the_same_one_fact_is_left(
    transactional_db: None, people: People, texts: Sequence[str]
) -> None:
    def run(text: str) -> Event:
        try:
            with tenant_scope(people.tenant):
                return remember(people.tenant, text)
        finally:
            connection.close()

    with ThreadPoolExecutor(PARALLEL) as pool:
        events = list(pool.map(run, texts))
    with tenant_scope(people.tenant):
        fact = Fact.objects.get()
        assert FactHistory.objects.count() == 1
    assert sorted(kinds(event)[0] for event in events) == ["ADD"] + ["NONE"] * (PARALLEL - 1)
    assert {event.results[0]["id"] for event in events} == {str(fact.pk)}


def test_of_parallel_contradictions_one_is_left_and_the_others_are_history(
    transactional_db: None, people: People
) -> None:
    towns = ["Berlin", "Paris", "Rome", "Oslo", "Lisbon", "Athens"]

    def run(town: str) -> None:
        try:
            with tenant_scope(people.tenant):
                remember(people.tenant, f"Ana lives in {town}.")
        finally:
            connection.close()

    with ThreadPoolExecutor(len(towns)) as pool:
        list(pool.map(run, towns))
    with tenant_scope(people.tenant):
        assert Fact.objects.filter(status="active").count() == 1
        assert Fact.objects.filter(status="superseded").count() == len(towns) - 1
