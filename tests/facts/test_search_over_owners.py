"""A search over several owners' facts reads them in batches, and finds what `rank_facts` finds among all of them."""

import tracemalloc
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from django.db.models import Q
from django.utils import timezone
from facts import search
from facts.embedding import query_embedding, vector_dim
from facts.models import Fact, Owner
from facts.retrieval import Snapshot, candidates_of, newest, rank_facts, unscored_facts
from facts.scopes import Scopes
from facts.search import facts_search
from facts.selectors import FactRow, fact_delta, facts_among_by_words, facts_matching
from tenants.models import Tenant

from memory.text import fact_line
from tests.factories import People, add_facts

Found = list[tuple[UUID, float | None]]

OWNERS = 6
COOK = Q(agent_id="cook")
THINGS = ("bees", "a lamp", "the cello", "old maps", "a kayak", "soup")
QUESTIONS = ("Who keeps bees behind the house?", "Wo brennt das Licht?", "zzz")
MODEL = "demo"


@pytest.fixture
def many(tenant: Tenant) -> Tenant:
    """Some hundred facts, some of them expired, without a vector or with another model's, equal ones of two owners."""
    for number in range(OWNERS):
        scopes = Scopes(user_id=f"user {number}", agent_id="cook" if number % 2 else "")
        texts = [f"Person {number} owns {thing}, number {i}." for i in range(9) for thing in THINGS]
        add_facts(tenant, *texts, *[f"Somebody likes {thing}." for thing in THINGS], scopes=scopes)
    ids = list(Fact.objects.order_by("text", "pk").values_list("pk", flat=True))
    Fact.objects.filter(pk__in=ids[::7]).update(embedding=None, embedding_model="")
    Fact.objects.filter(pk__in=ids[1::23]).update(embedding_model="former")
    Fact.objects.filter(pk__in=ids[2::29]).update(embedding=b"short")
    Fact.objects.filter(pk__in=ids[3::11]).update(expires_at=timezone.now() - timedelta(seconds=1))
    Fact.objects.filter(pk__in=ids[4::11]).update(expires_at=timezone.now() + timedelta(hours=1))
    return tenant


def rows(ids: Sequence[UUID]) -> list[FactRow]:
    """The newest first, as searches read facts."""
    owners = Owner.objects.values_list("pk", flat=True)
    every = [row for pk in owners for row in fact_delta(owner_id=pk, after_seq=-1, embedding_model=MODEL)]
    return sorted((row for row in every if row.id in ids), key=lambda row: (row.created_at, row.id), reverse=True)


def expected(tenant: Tenant, query: str, condition: Q, *, top_k: int, threshold: float, show_expired: bool) -> Found:
    """All that match in one snapshot."""
    matching = facts_matching(tenant=tenant, condition=condition, show_expired=show_expired)
    ids = list(matching.values_list("pk", flat=True))
    snapshot = Snapshot(vector_dim(MODEL))
    snapshot.apply(rows(ids), seq=0, header=None, line=fact_line)
    candidates = candidates_of(snapshot, scopes=Scopes(), now=None)
    vector = query_embedding(query, model=MODEL)()
    assert vector is not None
    by_words = facts_among_by_words(tenant=tenant, facts=matching, question=query, limit=1000)
    ranked = rank_facts(snapshot, candidates, query=vector, most=top_k, by_words=by_words, threshold=threshold)
    others = newest(unscored_facts(snapshot, candidates), top_k - len(ranked))
    return [*((one.entry.fact_id, one.score) for one in ranked), *((one.fact_id, None) for one in reversed(others))]


def found(tenant: Tenant, query: str, condition: Q, **asked: Any) -> Found:
    return [(one.fact.pk, one.score) for one in facts_search(tenant=tenant, query=query, condition=condition, **asked)]


@pytest.mark.parametrize("at_once", [1, 17, 2000])
@pytest.mark.parametrize("query", QUESTIONS)
def test_the_order_is_that_of_all_facts_together(
    many: Tenant, query: str, at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "AT_ONCE", at_once)
    for condition in (Q(), COOK):
        for top_k, threshold in ((5, -1.0), (5, 0.3), (120, 0.1), (1000, 0.2)):
            for show_expired in (False, True):
                asked: dict[str, Any] = {"top_k": top_k, "threshold": threshold, "show_expired": show_expired}
                assert found(many, query, condition, **asked) == expected(many, query, condition, **asked)


def test_words_move_facts_of_any_owner_up(many: Tenant) -> None:
    add_facts(many, "Zofia was ill on Monday.", scopes=Scopes(user_id="user 3", agent_id="cook"))
    for condition in (Q(), COOK):
        seen = facts_search(
            tenant=many, query="Zofia wonders about instruments.", condition=condition, top_k=3, threshold=-1
        )
        assert "Zofia was ill on Monday." in [one.fact.text for one in seen]


def test_nothing_matches(many: Tenant, people: People) -> None:
    assert found(many, "bees", Q(agent_id="nobody")) == []
    assert found(many, "bees", Q(pk__in=[])) == []
    assert found(people.other_tenant, "bees", Q()) == []


def test_more_facts_take_no_more_memory(tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "AT_ONCE", 100)

    def peak() -> int:
        tracemalloc.start()
        try:
            assert len(found(tenant, "bees", Q(), top_k=5, threshold=-1)) == 5
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    _fill(tenant, 500)
    found(tenant, "bees", Q(), threshold=-1)  # loads what is loaded once
    few = peak()
    _fill(tenant, 4000)
    assert peak() < 1.5 * few


def _fill(tenant: Tenant, count: int) -> None:
    """Facts of two owners with vectors of their own."""
    vectors = np.random.default_rng(count).normal(size=(count, vector_dim(MODEL))).astype("<f4")
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    owners = [
        add_facts(tenant, f"{name} begins {count}.", scopes=Scopes(user_id=name))[0].owner for name in ("ann", "ben")
    ]
    Fact.objects.bulk_create(
        Fact(
            tenant=tenant,
            owner=owners[number % 2],
            user_id=owners[number % 2].name,
            text=f"Fact {number} of {count}",
            hash=f"{count}-{number}",
            embedding=vector.tobytes(),
            embedding_model=MODEL,
        )
        for number, vector in enumerate(vectors)
    )
