"""Owners side by side: what they have, when they were last heard of, what it weighs."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count, QuerySet, Sum
from tenants.models import Tenant
from tenants.scope import tenant_scope

from facts.models import Encoding, EncodingState, Fact, FactStatus, Owner, Turn


@dataclass(frozen=True, slots=True)
class OwnerFigures:
    """`bytes` is the KV that is served, the encoding header's included; `leaving` are blobs still to be dropped."""

    owner: Owner
    facts: int
    turns: int
    encoded: int
    bytes: int
    leaving: int


def owners_browse(*, tenant: Tenant, kind: str, name: str = "") -> QuerySet[Owner]:
    """Of one kind whose name contains `name`, the newest first."""
    with tenant_scope(tenant):
        owners = Owner.objects.filter(kind=kind).order_by("-created_at", "-pk")
        return owners.filter(name__icontains=name) if name else owners


def owner_by_id(*, tenant: Tenant, owner_id: int) -> Owner | None:
    with tenant_scope(tenant):
        return Owner.objects.select_related("tenant").filter(pk=owner_id).first()


def owner_figures(*, tenant: Tenant, owners: Sequence[Owner]) -> list[OwnerFigures]:
    """In the order given, in three queries."""
    ids = [owner.pk for owner in owners]
    with tenant_scope(tenant):
        active = Fact.objects.filter(owner_id__in=ids, status=FactStatus.ACTIVE)
        facts = dict(active.order_by().values_list("owner_id").annotate(Count("pk")))
        turns = dict(Turn.objects.filter(owner_id__in=ids).order_by().values_list("owner_id").annotate(Count("pk")))
        by_state = Encoding.objects.filter(owner_id__in=ids).order_by().values_list("owner_id", "state")
        encoded = {
            (owner_id, state): (count, size or 0)
            for owner_id, state, count, size in by_state.annotate(Count("fact_id"), Sum("bytes"))
        }
    ready, stale = EncodingState.READY.value, EncodingState.STALE.value
    return [
        OwnerFigures(
            owner,
            facts.get(owner.pk, 0),
            turns.get(owner.pk, 0),
            *encoded.get((owner.pk, ready), (0, 0)),
            leaving=encoded.get((owner.pk, stale), (0, 0))[0],
        )
        for owner in owners
    ]
