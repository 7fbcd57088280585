"""Reads by blob key: which blobs are served, which are known, what has none. For the worker's upkeep of the store."""

from collections.abc import Collection
from typing import NamedTuple
from uuid import UUID

from django.db.models import Exists, F, OuterRef
from tenants.models import Tenant
from tenants.scope import every_tenant, tenant_scope

from facts.models import Encoding, EncodingState, Fact, FactStatus
from facts.selectors.facts import not_expired


class ReadyBlob(NamedTuple):
    encoding_id: int
    tenant_id: UUID
    owner_id: int
    key: str


class ServedBlob(NamedTuple):
    key: str
    tokens: int
    digest: str


def ready_blobs(*, after_id: int, limit: int) -> list[ReadyBlob]:
    """All tenants', in the order of the encodings' ids."""
    with every_tenant():
        ready = Encoding.objects.filter(state=EncodingState.READY, pk__gt=after_id).order_by("pk")
        return [ReadyBlob(*row) for row in ready.values_list("pk", "tenant_id", "owner_id", "key")[:limit]]


def served_keys(*, tenant: Tenant, keys: Collection[str]) -> set[str]:
    """Those of a ready encoding."""
    with tenant_scope(tenant):
        return set(Encoding.objects.filter(state=EncodingState.READY, key__in=keys).values_list("key", flat=True))


def blobs_of_owner(*, tenant: Tenant, owner_id: int, limit: int) -> list[ServedBlob]:
    """What is served of an owner: its header first, then its newest facts."""
    with tenant_scope(tenant):
        ready = Encoding.objects.filter(owner_id=owner_id, state=EncodingState.READY)
        rows = ready.order_by(F("fact__created_at").desc(nulls_first=True), "pk").values_list("key", "tokens", "digest")
        return [ServedBlob(key, tokens or 0, digest) for key, tokens, digest in rows[:limit]]


def keys_of_owners(owner_ids: Collection[int]) -> list[str]:
    """Of all that is served of these owners, of any tenant."""
    with every_tenant():
        ready = Encoding.objects.filter(owner_id__in=owner_ids, state=EncodingState.READY)
        return list(ready.order_by("key").values_list("key", flat=True).distinct())


def known_keys(keys: Collection[str]) -> set[str]:
    """Those of any encoding of any tenant: pending and stale ones own their blobs too."""
    with every_tenant():
        return set(Encoding.objects.filter(key__in=keys).values_list("key", flat=True))


def facts_unencoded(*, tenant: Tenant, fact_ids: Collection[UUID], fingerprint: str, strategy: str) -> list[UUID]:
    """Those of these facts that hold now and have no encoding but stale ones."""
    with tenant_scope(tenant):
        current = Encoding.objects.filter(fact_id=OuterRef("pk"), fingerprint=fingerprint, strategy=strategy)
        unencoded = ~Exists(current.exclude(state=EncodingState.STALE))
        facts = Fact.objects.filter(not_expired(), unencoded, pk__in=fact_ids, status=FactStatus.ACTIVE)
        return list(facts.order_by("created_at").values_list("pk", flat=True))


def owners_with_stale(*, tenant: Tenant) -> list[int]:
    """Owners that `drop_stale` has to visit."""
    with tenant_scope(tenant):
        stale = Encoding.objects.filter(state=EncodingState.STALE)
        return list(stale.order_by("owner_id").values_list("owner_id", flat=True).distinct())
