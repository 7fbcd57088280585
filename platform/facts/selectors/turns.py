"""Which turns of a conversation a fact may be encoded behind."""

from collections.abc import Collection
from uuid import UUID

from django.db.models import Exists, F, OuterRef, Q, QuerySet

from facts.models import Fact, FactHistory, FactStatus, Turn


def turns_before(*, fact: Fact, limit: int) -> list[Turn]:
    """The last readable turns said before the fact's own, oldest first."""
    if fact.source_turn is None:
        return []
    turns = _readable().filter(owner_id=fact.owner_id, created_at__lt=fact.source_turn.created_at)
    return list(turns.order_by("-created_at")[:limit])[::-1]


def turns_readable(*, turn_ids: Collection[UUID]) -> set[UUID]:
    """Those of them."""
    return set(_readable().filter(pk__in=turn_ids).values_list("pk", flat=True)) if turn_ids else set()


def _readable() -> QuerySet[Turn]:
    """A turn says what the facts taken from it said: once one of them no longer holds, nobody reads it."""
    edits = FactHistory.objects.filter(fact_id=OuterRef("pk"), event=FactHistory.Kind.UPDATE)
    edited = Exists(edits.exclude(old_text=F("new_text")))
    taken_back = Fact.objects.filter(~Q(status=FactStatus.ACTIVE) | Q(edited), source_turn=OuterRef("pk"))
    return Turn.objects.filter(~Exists(taken_back))
