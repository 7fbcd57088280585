"""Reads on extractions: what they are to read, which are left to do, what only a model can tell."""

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from django.db.models import Q, QuerySet
from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import tenant_scope

from facts.embedding import embed_texts, vector_of
from facts.inputs import FoundFact, Pair
from facts.models import GRACE, EventStatus, Extraction, Turn
from facts.selectors.rivals import rivals_of
from facts.truth import Relation, compare

LONG = timedelta(minutes=15)  # without a sign of life a running extraction counts as lost


def extraction_turns(*, extraction: Extraction) -> list[Turn]:
    """As they were said."""
    with tenant_scope(extraction.tenant):
        return list(Turn.objects.filter(event_id=extraction.pk).order_by("created_at"))


def extractions_unfinished(*, tenant: Tenant, limit: int = 1000) -> list[UUID]:
    """Events of those that no worker is at: never sent, lost, or left after many attempts."""
    now = timezone.now()
    waiting = Q(event__status=EventStatus.PENDING, updated_at__lt=now - GRACE)
    lost = Q(event__status=EventStatus.RUNNING, updated_at__lt=now - LONG)
    with tenant_scope(tenant):
        left = Extraction.objects.filter(waiting | lost)
        return list(left.order_by("updated_at").values_list("pk", flat=True)[:limit])


def pairs_unsure(*, extraction: Extraction, found: Sequence[FoundFact], limit: int) -> list[Pair]:
    """Stored and new facts that rules cannot tell apart, the nearest first; also among the new ones."""
    texts = list(dict.fromkeys(fact.text for fact in found))
    model = extraction.tenant.embedding_model
    vectors = embed_texts(texts, model=model)
    unsure: dict[Pair, float] = {}

    def note(stored: str, new: str, cosine: float | None) -> None:
        if compare(stored, new, cosine) is Relation.UNSURE:
            unsure[Pair(stored, new)] = -1.0 if cosine is None else cosine

    with tenant_scope(extraction.tenant):
        known = rivals_of(
            owner=extraction.owner,
            scopes=extraction.scopes,
            texts=texts,
            vectors=vectors,
            embedding_model=model,
        )
    for i, (text, rivals) in enumerate(zip(texts, known, strict=True)):
        for rival in rivals:
            note(rival.fact.text, text, rival.cosine)
        for earlier, vector in zip(texts[:i], vectors, strict=False):
            note(earlier, text, cosine_of(vector, vectors[i]))
    return sorted(unsure, key=unsure.__getitem__, reverse=True)[:limit]


def cosine_of(one: bytes | None, other: bytes | None) -> float | None:
    return None if one is None or other is None else float(vector_of(one) @ vector_of(other))


def extractions_list(*, tenant: Tenant, status: str = "") -> QuerySet[Extraction]:
    """With their events and owners, newest first; of one status where it is given."""
    with tenant_scope(tenant):
        found = Extraction.objects.select_related("event", "owner").order_by("-event__created_at", "-pk")
        return found.filter(event__status=status) if status else found
