"""Reads by blob key: which blobs are served, which are known, what has none. For the worker's upkeep of the store."""

from collections.abc import Collection, Sequence
from typing import NamedTuple
from uuid import UUID

from django.db.models import Count, Exists, F, OuterRef, Sum
from tenants.models import Tenant
from tenants.scope import every_tenant, tenant_scope
from tenants.selectors import tenant_quota

from facts.models import Encoding, EncodingState, Fact, FactStatus
from facts.selectors.encodings import to_drop
from facts.selectors.facts import not_expired


class ReadyBlob(NamedTuple):
    encoding_id: int
    tenant_id: UUID
    owner_id: int
    key: str


class KnownBlob(NamedTuple):
    """`key` is '' while it has none."""

    encoding_id: int
    key: str


class ServedBlob(NamedTuple):
    key: str
    tokens: int
    digest: str


class OwnedBlob(NamedTuple):
    tenant_id: UUID
    owner_id: int
    bytes: int


def kv_bytes(*, tenant: Tenant) -> int:
    """Of all blobs that are served."""
    with tenant_scope(tenant):
        ready = Encoding.objects.filter(state=EncodingState.READY)
        return int(ready.aggregate(bytes=Sum("bytes"))["bytes"] or 0)


def kv_is_full(*, tenant: Tenant) -> bool:
    """Whether the tenant's quota lets no further blob be made."""
    limit = tenant_quota(tenant=tenant).kv_disk_bytes
    return limit is not None and kv_bytes(tenant=tenant) >= limit


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


def blobs_known(*, tenant: Tenant, limit: int = 1000) -> list[KnownBlob]:
    """Of all encodings of a tenant, whatever their state."""
    with tenant_scope(tenant):
        return [KnownBlob(*row) for row in Encoding.objects.order_by("pk").values_list("pk", "key")[:limit]]


def known_keys(keys: Collection[str]) -> set[str]:
    """Those of any encoding of any tenant: pending and stale ones own their blobs too."""
    with every_tenant():
        return set(Encoding.objects.filter(key__in=keys).values_list("key", flat=True))


def blobs_by_key(keys: Collection[str]) -> dict[str, OwnedBlob]:
    """Whose blobs these are, of all tenants; without those that no encoding refers to."""
    with every_tenant():
        rows = Encoding.objects.filter(key__in=keys).values_list("key", "tenant_id", "owner_id", "bytes")
        return {key: OwnedBlob(tenant_id, owner_id, size or 0) for key, tenant_id, owner_id, size in rows}


def kv_total() -> tuple[int, int]:
    """Bytes and number of all blobs that are served, of all tenants."""
    with every_tenant():
        ready = Encoding.objects.filter(state=EncodingState.READY)
        found = ready.aggregate(bytes=Sum("bytes"), blobs=Count("pk"))
        return found["bytes"] or 0, found["blobs"]


def facts_unencoded(
    *, tenant: Tenant, fact_ids: Collection[UUID], fingerprint: str, strategies: Sequence[str]
) -> list[UUID]:
    """Those of these facts that hold now and have no encoding but stale ones."""
    with tenant_scope(tenant):
        current = Encoding.objects.filter(fact_id=OuterRef("pk"), fingerprint=fingerprint, strategy__in=strategies)
        unencoded = ~Exists(current.exclude(state=EncodingState.STALE))
        facts = Fact.objects.filter(not_expired(), unencoded, pk__in=fact_ids, status=FactStatus.ACTIVE)
        return list(facts.order_by("created_at").values_list("pk", flat=True))


def owners_with_stale(*, tenant: Tenant) -> list[int]:
    """Owners that `drop_stale` has to visit."""
    with tenant_scope(tenant):
        stale = Encoding.objects.filter(to_drop())
        return list(stale.order_by("owner_id").values_list("owner_id", flat=True).distinct())
