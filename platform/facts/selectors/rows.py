"""Facts as snapshots and encoders read them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import islice
from typing import Any, NamedTuple
from uuid import UUID

from django.db.models import Case, F, FilteredRelation, Q, QuerySet, When

from facts.models import EncodingState, Fact, FactStatus
from facts.scopes import Scopes
from facts.selectors.facts import not_expired
from memory.text import fact_line


@dataclass(frozen=True, slots=True)
class FactRow:
    """`active` is False once deleted or superseded, whatever `expires_at` says.

    `key`, `digest`, `tokens` are of the ready encoding, if there is one. `vector` is float32 little-endian of unit
    norm, None when missing or of another embedding model.
    """

    id: UUID
    text: str
    line: str
    hash: str
    seq: int
    active: bool
    vector: bytes | None
    scopes: Scopes
    metadata: dict[str, Any]
    categories: tuple[str, ...]
    created_at: datetime
    occurred_at: datetime | None
    expires_at: datetime | None
    key: str | None = None
    digest: str | None = None
    tokens: int | None = None


class VectorRow(NamedTuple):
    """`vector` as in FactRow."""

    fact_id: UUID
    created_at: datetime
    vector: bytes | None


def fact_delta(
    *, owner_id: int, after_seq: int, embedding_model: str, fingerprint: str = "", strategies: Sequence[str] = ()
) -> list[FactRow]:
    """Facts changed, deleted or newly encoded since `after_seq`, in the order of their `seq`.

    With the KV of any of these strategies; of a fact only one is ready. Expiry moves no `seq`: compare `expires_at` at
    the time of use.
    """
    facts = Fact.objects.filter(owner_id=owner_id, seq__gt=after_seq).order_by("seq", "created_at", "pk")
    if not strategies:
        return _rows(facts, embedding_model)
    served = FilteredRelation(
        "encodings",
        condition=Q(
            encodings__fingerprint=fingerprint,
            encodings__strategy__in=strategies,
            encodings__state=EncodingState.READY,
        ),
    )
    facts = facts.annotate(
        served=served,
        served_key=F("served__key"),
        served_digest=F("served__digest"),
        served_tokens=F("served__tokens"),
    )
    return _rows(facts, embedding_model)


def earlier_facts(*, fact: Fact) -> list[FactRow]:
    """The owner's facts that hold now and were stored before this one, oldest first."""
    before = Q(created_at__lt=fact.created_at) | Q(created_at=fact.created_at, pk__lt=fact.pk)
    facts = Fact.objects.filter(before, not_expired(), owner_id=fact.owner_id, status=FactStatus.ACTIVE)
    return _rows(facts.order_by("created_at", "pk"), fact.tenant.embedding_model)


def other_facts(*, fact: Fact) -> list[FactRow]:
    """The owner's other facts that hold now, stored before or after this one, oldest first."""
    facts = Fact.objects.filter(not_expired(), owner_id=fact.owner_id, status=FactStatus.ACTIVE).exclude(pk=fact.pk)
    return _rows(facts.order_by("created_at", "pk"), fact.tenant.embedding_model)


def facts_from(*, fact: Fact, limit: int) -> list[FactRow]:
    """This fact and those of its owner stored after it, as far as they hold now, oldest first."""
    after = Q(created_at__gt=fact.created_at) | Q(created_at=fact.created_at, pk__gte=fact.pk)
    facts = Fact.objects.filter(after, not_expired(), owner_id=fact.owner_id, status=FactStatus.ACTIVE)
    return _rows(facts.order_by("created_at", "pk")[:limit], fact.tenant.embedding_model)


def vectors_read(facts: QuerySet[Fact], *, embedding_model: str, at_once: int) -> Iterator[list[VectorRow]]:
    """Batch by batch in the query's own order, with vectors of that model alone.

    Inside a transaction: outside of one PostgreSQL writes all rows aside before it gives the first.
    """
    own = Case(When(embedding_model=embedding_model, then=F("embedding")))
    rows = facts.annotate(own_vector=own).values_list("pk", "created_at", "own_vector").iterator(chunk_size=at_once)
    while batch := [VectorRow(*row) for row in islice(rows, at_once)]:
        yield batch


def _rows(facts: Iterable[Fact], embedding_model: str) -> list[FactRow]:
    return [_row(fact, embedding_model) for fact in facts]


def _row(fact: Fact, model: str) -> FactRow:
    vector = fact.embedding if fact.embedding_model == model else None
    return FactRow(
        id=fact.pk,
        text=fact.text,
        line=fact_line(fact.text),
        hash=fact.hash,
        seq=fact.seq,
        active=fact.status == FactStatus.ACTIVE,
        vector=None if vector is None else bytes(vector),
        scopes=_scopes(fact.user_id, fact.agent_id, fact.app_id, fact.run_id),
        metadata=fact.metadata,
        categories=tuple(fact.categories),
        created_at=fact.created_at,
        occurred_at=fact.occurred_at,
        expires_at=fact.expires_at,
        key=getattr(fact, "served_key", None),
        digest=getattr(fact, "served_digest", None),
        tokens=getattr(fact, "served_tokens", None),
    )


@lru_cache(maxsize=1024)
def _scopes(*names: str) -> Scopes:
    """Of a memory's facts most have the same, and to check names takes longer than the rest of a row."""
    return Scopes(*names)
