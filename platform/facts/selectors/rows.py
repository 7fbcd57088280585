"""Facts as snapshots and encoders read them."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, FilteredRelation, Q
from django.utils import timezone

from facts.embedding import embedding_model
from facts.models import EncodingState, Fact, FactStatus
from facts.scopes import Scopes
from facts.selectors.facts import not_expired
from memory.text import fact_line


@dataclass(frozen=True, slots=True)
class FactRow:
    """`active` is False once deleted or expired; `key`, `digest`, `tokens` are of the ready encoding, if there is one.

    `vector` is float32 little-endian of unit norm, None when missing or of another embedding model.
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


def fact_delta(*, owner_id: int, after_seq: int, fingerprint: str, strategy: str) -> list[FactRow]:
    """Facts changed, deleted or newly encoded since `after_seq`, in the order of their `seq`.

    Expiry moves no `seq`: compare `expires_at` at the time of use.
    """
    served = FilteredRelation(
        "encodings",
        condition=Q(
            encodings__fingerprint=fingerprint, encodings__strategy=strategy, encodings__state=EncodingState.READY
        ),
    )
    facts = Fact.objects.filter(owner_id=owner_id, seq__gt=after_seq).annotate(
        served=served,
        served_key=F("served__key"),
        served_digest=F("served__digest"),
        served_tokens=F("served__tokens"),
    )
    return _rows(facts.order_by("seq", "created_at", "pk"))


def earlier_facts(*, fact: Fact) -> list[FactRow]:
    """The owner's facts that hold now and were stored before this one, oldest first."""
    before = Q(created_at__lt=fact.created_at) | Q(created_at=fact.created_at, pk__lt=fact.pk)
    facts = Fact.objects.filter(before, not_expired(), owner_id=fact.owner_id, status=FactStatus.ACTIVE)
    return _rows(facts.order_by("created_at", "pk"))


def other_facts(*, fact: Fact) -> list[FactRow]:
    """The owner's other facts that hold now, stored before or after this one, oldest first."""
    facts = Fact.objects.filter(not_expired(), owner_id=fact.owner_id, status=FactStatus.ACTIVE).exclude(pk=fact.pk)
    return _rows(facts.order_by("created_at", "pk"))


def facts_from(*, fact: Fact, limit: int) -> list[FactRow]:
    """This fact and those of its owner stored after it, as far as they hold now, oldest first."""
    after = Q(created_at__gt=fact.created_at) | Q(created_at=fact.created_at, pk__gte=fact.pk)
    facts = Fact.objects.filter(after, not_expired(), owner_id=fact.owner_id, status=FactStatus.ACTIVE)
    return _rows(facts.order_by("created_at", "pk")[:limit])


def _rows(facts: Iterable[Fact]) -> list[FactRow]:
    now, model = timezone.now(), embedding_model()
    return [_row(fact, now, model) for fact in facts]


def _row(fact: Fact, now: datetime, model: str) -> FactRow:
    expired = fact.expires_at is not None and fact.expires_at <= now
    vector = fact.embedding if fact.embedding_model == model else None
    return FactRow(
        id=fact.pk,
        text=fact.text,
        line=fact_line(fact.text),
        hash=fact.hash,
        seq=fact.seq,
        active=fact.status == FactStatus.ACTIVE and not expired,
        vector=None if vector is None else bytes(vector),
        scopes=fact.scopes,
        metadata=fact.metadata,
        categories=tuple(fact.categories),
        created_at=fact.created_at,
        occurred_at=fact.occurred_at,
        expires_at=fact.expires_at,
        key=getattr(fact, "served_key", None),
        digest=getattr(fact, "served_digest", None),
        tokens=getattr(fact, "served_tokens", None),
    )
