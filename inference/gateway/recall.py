"""What a question finds in its owner's memory. Reads the database inside the tenant's scope."""

import random
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from api.filters import FilterError, parse_filters
from django.utils import timezone
from facts.models import Owner
from facts.reranking import rerank, to_rank
from facts.retrieval import Entry
from facts.selectors import MOST_BY_WORDS, facts_by_words, facts_matching
from tenants.models import Tenant

from inference.gateway.candidates import Choice, Vector, choose_facts, find_facts, still_usable, without_repeats
from inference.gateway.errors import ApiError
from inference.gateway.options import MemoryOptions
from inference.gateway.runtime import Runtime
from inference.gateway.stages import Stages
from memory.contracts import Segment
from memory.encoding import strategy_names


@dataclass(frozen=True, slots=True)
class Recalled:
    """`chosen`: what the question finds, the worst first, no line twice; `known`: those asked for that may be used.

    `choice`: what it was made of, among the owner's `facts`; None where there are none.
    """

    chosen: list[Entry] = field(default_factory=list)
    known: Mapping[UUID, Entry] = field(default_factory=dict)
    header: Segment | None = None
    choice: Choice | None = None
    facts: int = 0


def recall(
    runtime: Runtime,
    tenant: Tenant,
    owner: Owner,
    question: str,
    query: Callable[[], Vector | None] | None,
    options: MemoryOptions,
    stages: Stages,
    *,
    fact_ids: Collection[UUID] = (),
    others: int = 0,
) -> Recalled:
    """All of one state of the memory. `fact_ids` are asked for whatever the question. Raises ApiError.

    `others`: how many of the facts left out are told.
    """
    snapshot = runtime.snapshots.current(owner, tenant.embedding_model, strategy_names(tenant.strategy))
    stages.end("facts")
    if not len(snapshot):
        return Recalled()
    usable: dict[str, Any] = {"scopes": options.scopes, "now": timezone.now(), "allowed_ids": _allowed(tenant, options)}
    by_words: list[UUID] = []
    are_too_many = len(snapshot) > options.top_k  # otherwise all are used, whatever their words
    if query is not None and are_too_many:
        by_words = facts_by_words(owner=owner, question=question, limit=MOST_BY_WORDS)
    stages.end("words")
    vector = query() if query else None
    wanted = options.top_k + others
    stages.end("embed")
    with snapshot.lock:
        found = find_facts(
            snapshot,
            query=vector if vector is not None and len(vector) == snapshot.dim else None,
            most=to_rank(wanted) if options.rerank else wanted,
            by_words=by_words,
            threshold=options.threshold,
            others=others,
            **usable,
        )
        known = still_usable(snapshot, fact_ids, **usable) if fact_ids else {}
        header, facts = snapshot.header, len(snapshot)
    stages.end("rank")
    if options.rerank and are_too_many:
        found = replace(found, ranked=rerank(question, found.ranked))
        stages.end("rerank")
    choice = choose_facts(found, top_k=options.top_k, others=others)
    chosen = list(choice.entries)
    if options.order == "random":
        random.shuffle(chosen)
    return Recalled(without_repeats(chosen), known, header, choice, facts)


def _allowed(tenant: Tenant, options: MemoryOptions) -> set[UUID] | None:
    if options.filters is None:
        return None
    try:
        condition = parse_filters(dict(options.filters))
    except FilterError as error:
        raise ApiError(400, str(error), "memory.filters") from error
    found = facts_matching(tenant=tenant, scopes=options.scopes, condition=condition)
    return set(found.values_list("pk", flat=True))
