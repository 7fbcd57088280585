"""Search over facts: the filter first, in SQL; then the nearest among exactly those that match."""

from dataclasses import dataclass

import numpy as np
from django.db.models import Q, QuerySet
from tenants.models import Tenant

from facts.embedding import embed_query, embedding_model, vector_of
from facts.models import Fact
from facts.scopes import Scopes
from facts.selectors import facts_matching
from facts.text import clean_fact_text


@dataclass(frozen=True, slots=True)
class ScoredFact:
    """`score` is the cosine with the query, None for a fact without a vector."""

    fact: Fact
    score: float | None


def facts_search(
    *,
    tenant: Tenant,
    query: str,
    condition: Q | None = None,
    scopes: Scopes | None = None,
    top_k: int = 10,
    threshold: float = 0.1,
    show_expired: bool = False,
) -> list[ScoredFact]:
    """The `top_k` best that match and reach `threshold`; facts without a vector follow, newest first.

    Raises InvalidInputError on a query without text.
    """
    cleaned = clean_fact_text(query, field="query")
    matching = facts_matching(tenant=tenant, scopes=scopes, condition=condition, show_expired=show_expired)
    comparable = Q(embedding__isnull=False, embedding_model=embedding_model())
    vector = embed_query(cleaned) if matching.filter(comparable).exists() else None
    if vector is None:
        return [ScoredFact(fact, None) for fact in matching.defer("embedding")[:top_k]]
    found = [pair for pair in _nearest(matching.filter(comparable), vector, top_k) if pair[1] >= threshold]
    facts = matching.defer("embedding").in_bulk([fact_id for fact_id, _ in found])
    scored = [ScoredFact(facts[fact_id], score) for fact_id, score in found if fact_id in facts]
    rest = matching.exclude(comparable).defer("embedding")[: top_k - len(scored)]
    return scored + [ScoredFact(fact, None) for fact in rest]


def _nearest(facts: QuerySet[Fact], vector: np.ndarray, top_k: int) -> list[tuple[object, float]]:
    from memory.retrieval import VectorIndex

    pairs = [(pk, vector_of(stored)) for pk, stored in facts.values_list("pk", "embedding") if stored is not None]
    pairs = [(pk, stored) for pk, stored in pairs if stored.shape == vector.shape]
    if not pairs:
        return []
    index = VectorIndex(vector.shape[0])
    index.upsert(range(len(pairs)), np.stack([stored for _, stored in pairs]))
    return [(pairs[position][0], score) for position, score in index.search(vector, top_k)]
