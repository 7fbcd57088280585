"""Who encodes what: facts that follow each other are taken by the task of the first, all in one pass."""

from collections.abc import Collection, Sequence
from itertools import takewhile
from uuid import UUID

from django.db.models import F, OuterRef, Subquery
from django.utils import timezone
from tenants.scope import tenant_scope

from facts.errors import FactGoneError
from facts.models import Encoding, EncodingState, Fact, FactStatus
from facts.services.change import encode_on_commit, owner_locked


def encodings_take(
    *,
    fact: Fact,
    followers: Sequence[UUID],
    fingerprint: str,
    strategy: str,
    settled_by: Collection[str] | None = None,
) -> list[Encoding]:
    """Encodings of the fact and of those behind it, up to the first that is settled, deleted or in another pass.

    Whatever is ready by one of the strategies `settled_by` is settled (None: by `strategy`); without any, beside what
    is served another encoding is made to take its place.

    All are pending then, and no other fact's task takes them while this one is heard of. The fact is taken alone first,
    which counts as its attempt; those behind it, once they are known, count as theirs. Empty when the fact itself is
    ready or in another pass. Raises FactGoneError.
    """
    asked = [fact.pk, *followers]
    with tenant_scope(fact.tenant), owner_locked(fact.owner_id) as owner:
        active = set(Fact.objects.filter(pk__in=asked, status=FactStatus.ACTIVE).values_list("pk", flat=True))
        if fact.pk not in active:
            raise FactGoneError(f"memory {fact.pk} was deleted")
        encodings = Encoding.objects.filter(fact_id__in=asked, fingerprint=fingerprint)
        served = encodings.filter(strategy__in=[strategy] if settled_by is None else settled_by)
        settled = set(served.filter(state=EncodingState.READY).values_list("fact_id", flat=True))
        current = encodings.filter(strategy=strategy, state__in=(EncodingState.PENDING, EncodingState.FAILED))
        there = {encoding.fact_id: encoding for encoding in current}

        def is_free(fact_id: UUID) -> bool:
            is_left = fact_id not in there or there[fact_id].is_free_for(fact.pk)
            return fact_id in active and fact_id not in settled and is_left

        taken = list(takewhile(is_free, asked))
        names = {"tenant_id": owner.tenant_id, "owner": owner, "fingerprint": fingerprint, "strategy": strategy}
        missing = [Encoding(fact_id=fact_id, **names) for fact_id in taken if fact_id not in there]
        Encoding.objects.bulk_create(missing, ignore_conflicts=True)
        current.filter(fact_id__in=taken).update(
            state=EncodingState.PENDING,
            error="",
            fact_hash=Subquery(Fact.objects.filter(pk=OuterRef("fact_id")).values("hash")[:1]),
            taken_by=fact.pk,
            updated_at=timezone.now(),
        )
        if not followers:
            current.update(checked_at=timezone.now())  # the facts it may stand behind are read after this
        current.filter(fact_id__in=taken[1:] if followers else taken).update(attempts=F("attempts") + 1)
        found = {encoding.fact_id: encoding for encoding in current.filter(fact_id__in=taken).select_related("tenant")}
    return [found[fact_id] for fact_id in taken]


def encodings_take_apart(*, fact: Fact, ids: Collection[int]) -> None:
    """A pass led by this fact failed: each encoding of it that is still pending is tried by itself from here on."""
    with tenant_scope(fact.tenant), owner_locked(fact.owner_id) as owner:
        pending = Encoding.objects.filter(pk__in=ids, state=EncodingState.PENDING, taken_by=fact.pk)
        others = list(pending.exclude(fact=fact).order_by("fact__created_at").values_list("fact_id", flat=True))
        pending.update(taken_by=F("fact_id"), updated_at=timezone.now())
        encode_on_commit(owner, [fact_id for fact_id in others if fact_id])
