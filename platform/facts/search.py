"""Search over facts, in the order in which chats find them, among exactly those that match."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import TYPE_CHECKING
from uuid import UUID

from django.db import transaction
from django.db.models import Q, QuerySet
from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import tenant_scope

from facts.conditions import names_and_rest
from facts.embedding import Vector, query_embedding, vector_dim
from facts.models import Fact, Owner
from facts.reranking import rerank, to_rank
from facts.scopes import Scopes
from facts.selectors import (
    MOST_BY_WORDS,
    facts_among_by_words,
    facts_by_words,
    facts_matching,
    owner_get,
    vectors_read,
)
from facts.text import clean_fact_text
from memory.text import fact_line

if TYPE_CHECKING:
    from facts.retrieval import Entry, Ranked, SnapshotCache

AT_ONCE = 2000  # rows in memory of a search over several owners' facts


@dataclass(frozen=True, slots=True)
class ScoredFact:
    """`score` is the cosine with the query, None for a fact without a vector; `relevance` is a reranker's, if any."""

    fact: Fact
    score: float | None
    relevance: float | None = None


_Find = Callable[[Vector, int, float], tuple[list["Ranked"], list[UUID]]]
"""By the query's vector, at most so many of each kind: those whose cosine reaches the threshold, best first, and those
without a vector, the newest first."""


def facts_search(
    *,
    tenant: Tenant,
    query: str,
    condition: Q | None = None,
    scopes: Scopes | None = None,
    top_k: int = 10,
    threshold: float = 0.1,
    show_expired: bool = False,
    with_reranker: bool = False,
) -> list[ScoredFact]:
    """The `top_k` best of those that match and reach `threshold`; facts without a vector follow, newest first.

    Ranks by vectors and by words make the order together; `threshold` is compared with the cosine alone. Whatever was
    stored, changed or deleted before the call counts. `with_reranker`: the best are put into the order of the
    reranker, where one is configured and answers. Raises InvalidInputError on a query without text.
    """
    cleaned = clean_fact_text(query, field="query")
    embedding = query_embedding(cleaned, model=tenant.embedding_model)  # goes on while the database is asked
    condition = (condition or Q()) & Q(**(scopes.named if scopes else {}))
    matching = facts_matching(tenant=tenant, condition=condition, show_expired=show_expired)
    names, rest = names_and_rest(condition)
    with tenant_scope(tenant):
        owner = _one_owner(tenant, names, matching)
        if owner is None:
            find = _among_all(tenant, cleaned, matching)
        else:
            find = _of_owner(tenant, owner, cleaned, names, matching if rest else None, show_expired=show_expired)
        vector = embedding()
        if vector is None:
            return [ScoredFact(fact, None) for fact in matching.defer("embedding")[:top_k]]
        ranked, others = find(vector, to_rank(top_k) if with_reranker else top_k, threshold)
        if with_reranker:
            ranked = rerank(cleaned, ranked)
        found = {one.entry.fact_id: one for one in ranked[:top_k]}
        ids = [*found, *others[: top_k - len(found)]]
        facts = matching.defer("embedding").in_bulk(ids)
    return [_scored(facts[fact_id], found.get(fact_id)) for fact_id in ids if fact_id in facts]


def _scored(fact: Fact, ranked: "Ranked | None") -> ScoredFact:
    return ScoredFact(fact, ranked.score, ranked.relevance) if ranked else ScoredFact(fact, None)


def _one_owner(tenant: Tenant, names: Scopes, matching: QuerySet[Fact]) -> Owner | None:
    """The one whose facts all that match are; None when there are several, or no such facts."""
    if names.user_id:
        return owner_get(tenant=tenant, scopes=names)
    ids = list(matching.order_by().values_list("owner_id", flat=True).distinct()[:2])
    return Owner.objects.filter(pk=ids[0]).first() if len(ids) == 1 else None


def _of_owner(
    tenant: Tenant, owner: Owner, query: str, names: Scopes, narrower: QuerySet[Fact] | None, *, show_expired: bool
) -> _Find:
    """In the owner's snapshot, kept from search to search; all that carry the names where `narrower` is None."""
    allowed = None if narrower is None else list(narrower.order_by().values_list("pk", flat=True))
    by_words = facts_by_words(owner=owner, question=query, limit=MOST_BY_WORDS)

    def find(vector: Vector, most: int, threshold: float) -> tuple[list["Ranked"], list[UUID]]:
        from facts.retrieval import candidates_of, newest, rank_facts, unscored_facts

        snapshot = _snapshots().current(owner, tenant.embedding_model)
        now = None if show_expired else timezone.now()
        with snapshot.lock:
            candidates = candidates_of(snapshot, scopes=names, now=now, allowed_ids=allowed)
            ranked = rank_facts(snapshot, candidates, query=vector, most=most, by_words=by_words, threshold=threshold)
            unscored = newest(unscored_facts(snapshot, candidates), most)
        return ranked, [entry.fact_id for entry in reversed(unscored)]

    return find


def _among_all(tenant: Tenant, query: str, matching: QuerySet[Fact]) -> _Find:
    """Whosever they are and however many: their vectors are read in batches, and none is kept."""
    by_words = facts_among_by_words(tenant=tenant, facts=matching, question=query, limit=MOST_BY_WORDS)
    read = partial(vectors_read, embedding_model=tenant.embedding_model, at_once=AT_ONCE)

    def find(vector: Vector, most: int, threshold: float) -> tuple[list["Ranked"], list[UUID]]:
        from facts.retrieval import rank_batches

        with transaction.atomic():
            with_words = {row.fact_id: row for rows in read(matching.filter(pk__in=by_words)) for row in rows}
            placed, unscored = rank_batches(
                read(matching),
                query=vector,
                most=most,
                by_words=[with_words[fact_id] for fact_id in by_words if fact_id in with_words],
                threshold=threshold,
            )
        facts = matching.defer("embedding").in_bulk([fact_id for fact_id, _ in placed])
        ranked = [one.of(_entry(facts[fact_id], one.number)) for fact_id, one in placed if fact_id in facts]
        return ranked, unscored

    return find


def _entry(fact: Fact, number: int) -> "Entry":
    from facts.retrieval import Entry

    line = fact_line(fact.text)
    return Entry(number, fact.pk, line, fact.scopes, fact.created_at, fact.expires_at, segment=None, embedded=True)


@lru_cache(maxsize=1)
def _snapshots() -> "SnapshotCache":
    """The process's own. Without KV: a search serves texts."""
    from facts.retrieval import SnapshotCache

    return SnapshotCache(dim_of=vector_dim, fingerprint="", line=fact_line)
