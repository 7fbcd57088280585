"""An encoding's way from pending to failed, stale and gone. Its way to ready has a file of its own."""

from collections.abc import Collection
from functools import partial
from typing import Any

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import tenant_scope

from facts.enqueue import DROP_STALE, ENCODE_FACT, enqueue_many
from facts.models import Encoding, EncodingState, Fact, Owner
from facts.services.change import fact_locked, owner_locked, owner_touch

MAX_ERROR = 2000


def encoding_start(*, fact_or_owner: Fact | Owner, fingerprint: str, strategy: str) -> Encoding:
    """Pending with one more attempt, or the one that is ready already. An Owner means its encoding header.

    Raises FactGoneError once the fact is deleted.
    """
    fact = fact_or_owner if isinstance(fact_or_owner, Fact) else None
    identity: dict[str, Any] = {
        "owner_id": fact.owner_id if fact else fact_or_owner.pk,
        "fact_id": fact.pk if fact else None,
        "fingerprint": fingerprint,
        "strategy": strategy,
    }
    with tenant_scope(fact_or_owner.tenant), owner_locked(identity["owner_id"]):
        fact_hash = fact_locked(fact.pk).hash if fact else ""
        if ready := Encoding.objects.filter(**identity, state=EncodingState.READY).first():
            return ready
        Encoding.objects.bulk_create([Encoding(tenant_id=fact_or_owner.tenant_id, **identity)], ignore_conflicts=True)
        Encoding.objects.filter(**identity, state__in=(EncodingState.PENDING, EncodingState.FAILED)).update(
            state=EncodingState.PENDING,
            attempts=F("attempts") + 1,
            error="",
            fact_hash=fact_hash,
            updated_at=timezone.now(),
        )
        return Encoding.objects.exclude(state=EncodingState.STALE).get(**identity)


def encoding_mark_failed(*, encoding: Encoding, error: str) -> bool:
    """False when it became ready or stale in the meantime, and stays that."""
    with tenant_scope(encoding.tenant):
        pending = Encoding.objects.filter(pk=encoding.pk, state=EncodingState.PENDING)
        cleaned = error.replace("\x00", "")[:MAX_ERROR]
        return pending.update(state=EncodingState.FAILED, error=cleaned, updated_at=timezone.now()) == 1


def encodings_mark_stale(*, tenant: Tenant, ids: Collection[int] = (), keys: Collection[str] = ()) -> int:
    """For blobs found broken or gone, and encodings of a former model or strategy: served as text from here on."""
    wanted = Q(pk__in=ids) | Q(key__in=[key for key in keys if key])
    with tenant_scope(tenant):
        unmarked = Encoding.objects.filter(wanted).exclude(state=EncodingState.STALE)
        owner_ids = sorted(set(unmarked.values_list("owner_id", flat=True)))
        return sum(_mark_owner(owner_id, wanted) for owner_id in owner_ids)


def encodings_remake(*, tenant: Tenant, ids: Collection[int]) -> int:
    """Have these encodings' blobs dropped and made again, also those given up; how many."""
    with tenant_scope(tenant):
        chosen = list(Encoding.objects.filter(pk__in=ids).values_list("owner_id", "fact_id"))
    owners = [(tenant.pk, owner_id) for owner_id in sorted({owner_id for owner_id, _ in chosen})]
    facts = [(tenant.pk, fact_id) for _, fact_id in chosen if fact_id is not None]
    with transaction.atomic():
        marked = encodings_mark_stale(tenant=tenant, ids=ids)
        transaction.on_commit(partial(enqueue_many, DROP_STALE, owners), robust=True)
        transaction.on_commit(partial(enqueue_many, ENCODE_FACT, facts), robust=True)
    return marked


def owner_kv_drop(*, tenant: Tenant, owner_id: int) -> int:
    """Have all KV of an owner leave every tier and be made again; until then its facts are sent as text. How many."""
    with tenant_scope(tenant), transaction.atomic():
        ready = Encoding.objects.filter(owner_id=owner_id, state=EncodingState.READY)
        marked = encodings_mark_stale(tenant=tenant, ids=list(ready.values_list("pk", flat=True)))
        transaction.on_commit(partial(enqueue_many, DROP_STALE, [(tenant.pk, owner_id)]), robust=True)
    return marked


def encoding_drop(*, encoding: Encoding) -> bool:
    """The stale encoding's blob is gone from every tier: so goes its row. False when it is not stale."""
    with tenant_scope(encoding.tenant):
        removed, _ = Encoding.objects.filter(pk=encoding.pk, state=EncodingState.STALE).delete()
    return removed == 1


def encodings_delete(*, tenant: Tenant, ids: Collection[int]) -> None:
    """Of a tenant that ends: their blobs are gone from every tier."""
    with tenant_scope(tenant):
        Encoding.objects.filter(pk__in=ids).delete()


def _mark_owner(owner_id: int, wanted: Q) -> int:
    with owner_locked(owner_id) as owner:
        unmarked = Encoding.objects.filter(wanted, owner=owner).exclude(state=EncodingState.STALE)
        fact_ids = [fact_id for fact_id in unmarked.values_list("fact_id", flat=True) if fact_id is not None]
        marked = unmarked.update(state=EncodingState.STALE, error="", updated_at=timezone.now())
        if marked:
            Fact.objects.filter(pk__in=fact_ids).update(seq=owner_touch(owner))
        return marked
