"""Whose KV lies where: on disk by the encodings that are served, in memory by what the engine said last."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Count, F, Sum
from facts.models import Encoding, EncodingState, Owner
from tenants.models import Tenant
from tenants.scope import every_tenant, tenant_scope

from usage.models import OwnerActivity, Residence, TierHolding


@dataclass(frozen=True, slots=True)
class Held:
    """Bytes and number of blobs, whole ones, as on disk."""

    bytes: int = 0
    blobs: int = 0


@dataclass(frozen=True, slots=True)
class Holding:
    """`tiers` by name; a tier in which nothing of it lies is not among them."""

    of: Any
    tiers: dict[str, Held]


def tenant_held(*, tenant: Tenant) -> dict[str, Held]:
    """By tier."""
    with tenant_scope(tenant):
        disk = Encoding.objects.filter(state=EncodingState.READY).aggregate(bytes=Sum("bytes"), blobs=Count("pk"))
    return {**tenant_held_in_memory(tenant=tenant), "disk": Held(disk["bytes"] or 0, disk["blobs"])}


def tenant_held_in_memory(*, tenant: Tenant) -> dict[str, Held]:
    """By tier of the engine's memory."""
    with tenant_scope(tenant):
        rows = TierHolding.objects.order_by().values_list("tier").annotate(Sum("bytes"), Sum("blobs"))
        return {tier: Held(size, blobs) for tier, size, blobs in rows}


def largest_owners(*, tenant: Tenant, limit: int) -> list[Holding]:
    """Those with most KV on disk."""
    with tenant_scope(tenant):
        on_disk = _on_disk("owner_id", limit)
        owners = Owner.objects.in_bulk(on_disk.keys())
        memory = _in_memory("owner_id", list(on_disk))
    return [Holding(owners[pk], {**memory[pk], "disk": held}) for pk, held in on_disk.items() if pk in owners]


def largest_tenants(*, limit: int) -> list[Holding]:
    """Those with most KV on disk."""
    with every_tenant():
        on_disk = _on_disk("tenant_id", limit)
        tenants = Tenant.objects.in_bulk(on_disk.keys())
        memory = _in_memory("tenant_id", list(on_disk))
    return [Holding(tenants[pk], {**memory[pk], "disk": held}) for pk, held in on_disk.items() if pk in tenants]


def owners_with_kv(*, tenant: Tenant, limit: int) -> list[int]:
    """The most recently active first; those never heard of last."""
    with tenant_scope(tenant):
        served = Encoding.objects.filter(state=EncodingState.READY).values("owner_id")
        owners = Owner.objects.filter(pk__in=served).order_by(F("activity__active_at").desc(nulls_last=True), "pk")
        return list(owners.values_list("pk", flat=True)[:limit])


def owners_in_memory(*, tenant: Tenant) -> list[int]:
    """Those of whom the engine had anything when it was asked last, and those who were promoted since."""
    with tenant_scope(tenant):
        held = TierHolding.objects.values_list("owner_id", flat=True)
        promoted = OwnerActivity.objects.filter(residence__in=(Residence.WAITING, Residence.MEMORY))
        return sorted({*held, *promoted.values_list("pk", flat=True)})


def _on_disk(field: str, limit: int) -> dict[Any, Held]:
    """In the caller's scope; the largest first."""
    ready = Encoding.objects.filter(state=EncodingState.READY).order_by().values(field)
    rows = ready.annotate(size=Sum("bytes"), blobs=Count("pk")).order_by("-size", field)[:limit]
    return {row[field]: Held(row["size"] or 0, row["blobs"]) for row in rows}


def _in_memory(field: str, ids: Sequence[int | UUID]) -> dict[Any, dict[str, Held]]:
    """In the caller's scope."""
    found = defaultdict[Any, dict[str, Held]](dict)
    rows = TierHolding.objects.filter(**{f"{field}__in": ids}).order_by().values(field, "tier")
    for row in rows.annotate(size=Sum("bytes"), count=Sum("blobs")):
        found[row[field]][row["tier"]] = Held(row["size"], row["count"])
    return found
