"""What is true of a user is so in every run; what a run said stays in it; a memory of a run alone is its own."""

from datetime import UTC, datetime

import pytest
from facts.inputs import FoundFact
from facts.models import Fact
from facts.scopes import Scopes
from facts.search import facts_search
from facts.selectors import extraction_turns, facts_matching, pairs_unsure
from facts.text import text_hash
from facts.truth import Relation
from tenants.models import Tenant

from tests.factories import ALICE, add_facts
from tests.facts.remembering import active, kinds, remember, started

MONDAY, TUESDAY = Scopes(user_id="alice", run_id="monday"), Scopes(user_id="alice", run_id="tuesday")
MARCH, APRIL = datetime(2026, 3, 1, tzinfo=UTC), datetime(2026, 4, 1, tzinfo=UTC)


@pytest.mark.parametrize(("before", "after"), [(MONDAY, TUESDAY), (ALICE, TUESDAY), (MONDAY, ALICE)])
def test_a_contradiction_supersedes_what_another_run_found(tenant: Tenant, before: Scopes, after: Scopes) -> None:
    remember(tenant, "Ana lives in Berlin.", "Ana has a dog.", scopes=before, at=MARCH)
    event = remember(tenant, "Ana moved to Paris.", scopes=after, at=APRIL)
    assert active(tenant) == ["Ana has a dog.", "Ana moved to Paris."]
    old, new = Fact.objects.get(text="Ana lives in Berlin."), Fact.objects.get(text="Ana moved to Paris.")
    assert (old.status, old.superseded_by_id, old.valid_until) == ("superseded", new.pk, APRIL)
    assert kinds(event) == ["ADD", "DELETE"]
    found = facts_search(tenant=tenant, query="Where does Ana live?", scopes=ALICE, threshold=-1.0)
    assert "Ana lives in Berlin." not in {entry.fact.text for entry in found}


def test_what_comes_late_from_another_run_is_history_itself(tenant: Tenant) -> None:
    remember(tenant, "Ana moved to Paris.", scopes=TUESDAY, at=APRIL)
    remember(tenant, "Ana lives in Berlin.", scopes=MONDAY, at=MARCH)
    assert active(tenant) == ["Ana moved to Paris."]
    assert Fact.objects.get(text="Ana lives in Berlin.").status == "superseded"


@pytest.mark.parametrize("again", ["Ana has a dog.", "Ana has a dog now!", "Ana has a dog called Rex."])
def test_what_is_said_again_in_another_run_is_found_in_both(tenant: Tenant, again: str) -> None:
    remember(tenant, "Ana has a dog.", scopes=MONDAY)
    assert kinds(remember(tenant, again, scopes=TUESDAY)) == ["ADD"]
    assert [fact.text for fact in facts_matching(tenant=tenant, scopes=MONDAY)] == ["Ana has a dog."]
    assert [fact.text for fact in facts_matching(tenant=tenant, scopes=TUESDAY)] == [again]


def test_a_contradiction_reaches_all_runs_that_said_it(tenant: Tenant) -> None:
    for scopes in (MONDAY, TUESDAY, ALICE):
        remember(tenant, "Ana lives in Berlin.", scopes=scopes, at=MARCH)
    remember(tenant, "Ana moved to Paris.", scopes=Scopes(user_id="alice", run_id="friday"), at=APRIL)
    assert active(tenant) == ["Ana moved to Paris."]


def test_an_immutable_fact_stands_in_every_run(tenant: Tenant) -> None:
    remember(tenant, "Ana lives in Berlin.", scopes=MONDAY, immutable=True)
    assert kinds(remember(tenant, "Ana moved to Paris.", scopes=TUESDAY)) == ["NONE"]
    assert active(tenant) == ["Ana lives in Berlin."]


def test_memories_of_runs_alone_are_not_compared(tenant: Tenant) -> None:
    remember(tenant, "Ana lives in Berlin.", scopes=Scopes(run_id="monday"))
    remember(tenant, "Ana moved to Paris.", scopes=Scopes(run_id="tuesday"))
    remember(tenant, "Ana moved to Rome.", scopes=TUESDAY)
    assert len(active(tenant)) == 3
    remember(tenant, "Ana moved to Oslo.", scopes=Scopes(run_id="monday"))
    assert "Ana lives in Berlin." not in active(tenant)


@pytest.mark.parametrize("name", ["agent_id", "app_id"])
def test_an_agents_and_an_apps_runs_are_theirs_alone(tenant: Tenant, name: str) -> None:
    remember(tenant, "Ana lives in Berlin.", scopes=Scopes(**{name: "guide", "run_id": "monday"}))
    remember(tenant, "Ana moved to Rome.", scopes=Scopes(**{name: "other", "run_id": "monday"}))
    remember(tenant, "Ana moved to Oslo.", scopes=Scopes(user_id="alice", **{name: "guide"}))
    assert len(active(tenant)) == 3
    remember(tenant, "Ana moved to Paris.", scopes=Scopes(**{name: "guide", "run_id": "tuesday"}))
    assert active(tenant) == ["Ana moved to Rome.", "Ana moved to Oslo.", "Ana moved to Paris."]


@pytest.mark.parametrize(("judgement", "left"), [(Relation.CONTRADICTS, 1), (Relation.SAME, 2)])
def test_a_judgement_counts_across_runs_where_it_is_a_contradiction(
    tenant: Tenant, judgement: Relation, left: int
) -> None:
    stored, new = "Ana works as a nurse in the hospital.", "Ana no longer works as a nurse at the city hospital."
    add_facts(tenant, stored, scopes=MONDAY)
    extraction = started(tenant, new, scopes=TUESDAY)
    (turn,) = extraction_turns(extraction=extraction)
    found = [FoundFact(new, turn.pk, turn.occurred_at)]
    assert [(pair.stored, pair.new) for pair in pairs_unsure(extraction=extraction, found=found, limit=8)] == [
        (stored, new)
    ]
    remember(tenant, new, scopes=TUESDAY, judged={(text_hash(stored), text_hash(new)): judgement})
    assert len(active(tenant)) == left
