from datetime import timedelta

import pytest
from django.db.models import Q
from django.utils import timezone
from facts.errors import InvalidInputError
from facts.models import Fact
from facts.scopes import Scopes
from facts.search import ScoredFact, facts_search
from facts.selectors import facts_matching
from tenants.models import Tenant

from tests.factories import ALICE, People, add_facts

FACTS = ("Alice keeps bees in her garden.", "Alice was born in Lisbon.", "Alice plays the cello.")


def texts(found: list[ScoredFact]) -> list[str]:
    return [scored.fact.text for scored in found]


def test_the_nearest_fact_comes_first_with_its_cosine(tenant: Tenant) -> None:
    add_facts(tenant, *FACTS)
    found = facts_search(tenant=tenant, query="Which instrument does Alice play?", threshold=0)
    assert texts(found)[0] == "Alice plays the cello."
    scores = [scored.score for scored in found if scored.score is not None]
    assert scores == sorted(scores, reverse=True)
    assert 0.3 < scores[0] <= 1


def test_the_threshold_leaves_out_what_is_far(tenant: Tenant) -> None:
    add_facts(tenant, *FACTS)
    assert texts(facts_search(tenant=tenant, query=FACTS[0], threshold=0.99)) == [FACTS[0]]


def test_a_filtered_search_is_full_when_enough_match(tenant: Tenant) -> None:
    add_facts(tenant, *[f"Alice keeps bees, hive {number}." for number in range(60)])
    rare = Scopes(user_id="alice", run_id="rare")
    add_facts(tenant, *[f"Invoice {number} was paid." for number in range(10)], scopes=rare)
    found = facts_search(tenant=tenant, query="bees", scopes=rare, top_k=10, threshold=-1)
    assert len(found) == 10
    assert {scored.fact.run_id for scored in found} == {"rare"}


def test_facts_without_a_vector_follow(tenant: Tenant) -> None:
    bees, *_ = add_facts(tenant, *FACTS)
    Fact.objects.filter(pk=bees.pk).update(embedding=None, embedding_model="")
    found = facts_search(tenant=tenant, query="bees", threshold=-1)
    assert (found[-1].fact, found[-1].score) == (bees, None)


def test_vectors_of_a_former_embedding_model_do_not_lose_the_fact(tenant: Tenant) -> None:
    add_facts(tenant, *FACTS)
    Fact.objects.update(embedding_model="former")
    found = facts_search(tenant=tenant, query="bees")
    assert (len(found), {scored.score for scored in found}) == (3, {None})


def test_conditions_hold_for_every_result(tenant: Tenant) -> None:
    add_facts(tenant, *FACTS)
    assert texts(facts_search(tenant=tenant, query="bees", condition=Q(text__contains="cello"), threshold=-1)) == [
        "Alice plays the cello."
    ]


def test_expired_facts_are_found_only_when_asked_for(tenant: Tenant) -> None:
    fact = add_facts(tenant, FACTS[0])[0]
    Fact.objects.filter(pk=fact.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    assert facts_search(tenant=tenant, query="bees") == []
    assert texts(facts_search(tenant=tenant, query="bees", show_expired=True)) == [FACTS[0]]
    assert not facts_matching(tenant=tenant, scopes=ALICE).exists()


def test_the_member_finds_what_the_stranger_does_not(tenant: Tenant, people: People) -> None:
    add_facts(tenant, *FACTS)
    assert len(facts_search(tenant=tenant, query="Alice", threshold=-1)) == 3
    assert facts_search(tenant=people.other_tenant, query="Alice", threshold=-1) == []


@pytest.mark.parametrize("query", ["", "  ", "\x00"])
def test_a_query_without_text_is_refused(tenant: Tenant, query: str) -> None:
    with pytest.raises(InvalidInputError, match="query must contain text"):
        facts_search(tenant=tenant, query=query)
