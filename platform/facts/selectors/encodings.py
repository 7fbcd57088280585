"""Reads on encodings: what is served, what is left to do."""

from collections.abc import Sequence
from datetime import timedelta
from typing import NamedTuple
from uuid import UUID

from django.db.models import Case, Exists, F, OuterRef, Q, QuerySet, When
from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import tenant_scope

from facts.models import GRACE, Encoding, EncodingState, Fact, FactStatus, Owner
from facts.selectors.facts import not_expired


class HeaderEncoding(NamedTuple):
    key: str
    digest: str
    tokens: int


class BlobToDrop(NamedTuple):
    """`shared`: a ready encoding has the same blob again, so only the row is to go. `key` may be ''."""

    encoding: Encoding
    key: str
    shared: bool


def fact_encoding(*, fact: Fact, fingerprint: str, strategies: Sequence[str]) -> Encoding | None:
    """The one that is served, else the one made or given up; not a stale one."""
    wanted = Encoding.objects.filter(fact=fact, fingerprint=fingerprint, strategy__in=strategies)
    served_first = Case(When(state=EncodingState.READY, then=0), default=1)
    return wanted.exclude(state=EncodingState.STALE).order_by(served_first, "pk").first()


def header_encoding(*, owner_id: int, fingerprint: str, strategies: Sequence[str]) -> HeaderEncoding | None:
    ready = Encoding.objects.filter(
        owner_id=owner_id, fact=None, fingerprint=fingerprint, strategy__in=strategies, state=EncodingState.READY
    )
    found = ready.values_list("key", "digest", "tokens").first()
    return HeaderEncoding(found[0], found[1], found[2] or 0) if found else None


def encodings_unfinished(
    *, tenant: Tenant, fingerprint: str, strategies: Sequence[str], older_than: timedelta = GRACE, limit: int = 1000
) -> list[UUID]:
    """Facts that should have an encoding and that no worker is at: never sent, lost, stale or left pending.

    Failed ones are not among them: their text or the model has to change first.
    """
    with tenant_scope(tenant):
        settled = _settled(fingerprint, strategies, older_than).filter(fact_id=OuterRef("pk"))
        facts = Fact.objects.filter(not_expired(), ~Exists(settled), status=FactStatus.ACTIVE)
        facts = facts.filter(updated_at__lt=timezone.now() - older_than)
        return list(facts.order_by("created_at").values_list("pk", flat=True)[:limit])


def headers_unfinished(
    *, tenant: Tenant, fingerprint: str, strategies: Sequence[str], older_than: timedelta = GRACE, limit: int = 1000
) -> list[int]:
    """Owners with facts but without an encoding header."""
    with tenant_scope(tenant):
        settled = _settled(fingerprint, strategies, older_than).filter(owner_id=OuterRef("pk"), fact=None)
        facts = Fact.objects.filter(not_expired(), owner_id=OuterRef("pk"), status=FactStatus.ACTIVE)
        owners = Owner.objects.filter(Exists(facts), ~Exists(settled), created_at__lt=timezone.now() - older_than)
        return list(owners.order_by("pk").values_list("pk", flat=True)[:limit])


def encodings_outdated(*, tenant: Tenant, fingerprint: str, strategies: Sequence[str], limit: int = 1000) -> list[int]:
    """Encodings of another model or strategy than the current one, for `encodings_mark_stale`."""
    with tenant_scope(tenant):
        current = Q(fingerprint=fingerprint, strategy__in=strategies)
        others = Encoding.objects.exclude(current).exclude(state=EncodingState.STALE)
        return list(others.order_by("pk").values_list("pk", flat=True)[:limit])


def encodings_to_drop(*, tenant: Tenant, owner_id: int | None = None, limit: int = 1000) -> list[BlobToDrop]:
    """Stale encodings whose time has come: drop the blob unless `shared`, then `encoding_drop`."""
    with tenant_scope(tenant):
        again = Encoding.objects.filter(state=EncodingState.READY, key=OuterRef("key")).exclude(key="")
        stale = Encoding.objects.filter(to_drop()).annotate(shared=Exists(again))
        if owner_id is not None:
            stale = stale.filter(owner_id=owner_id)
        rows = stale.select_related("tenant").order_by(F("pk"))[:limit]
        return [BlobToDrop(encoding, encoding.key, encoding.shared) for encoding in rows]


def to_drop() -> Q:
    kept = Q(keep_until__gt=timezone.now())
    return Q(state=EncodingState.STALE) & ~kept


def _settled(fingerprint: str, strategies: Sequence[str], older_than: timedelta) -> QuerySet[Encoding]:
    under_way = Q(state=EncodingState.PENDING, updated_at__gte=timezone.now() - older_than)
    done = Q(state__in=(EncodingState.READY, EncodingState.FAILED))
    return Encoding.objects.filter(done | under_way, fingerprint=fingerprint, strategy__in=strategies)


def encodings_failed(*, tenant: Tenant) -> QuerySet[Encoding]:
    """Given up, with their facts and owners; the latest first."""
    with tenant_scope(tenant):
        failed = Encoding.objects.filter(state=EncodingState.FAILED).select_related("fact", "owner")
        return failed.defer("fact__embedding", "fact__words").order_by("-updated_at", "-pk")
