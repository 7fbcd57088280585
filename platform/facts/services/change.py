"""The steps that every change of a memory shares."""

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from tenants.models import Tenant
from webhooks.services import deliveries_create

from facts.enqueue import DROP_STALE, ENCODE_FACT, enqueue, enqueue_many
from facts.errors import FactGoneError
from facts.models import (
    ComingVector,
    Encoding,
    EncodingState,
    Event,
    EventStatus,
    Fact,
    FactHistory,
    FactStatus,
    Owner,
    Summary,
)
from facts.scopes import Scopes


def owner_id(tenant: Tenant, scopes: Scopes) -> int:
    """Found or made; two that make it at once get the same one."""
    identity = {"tenant": tenant, "kind": scopes.owner_kind, "name": scopes.owner_name}
    found = Owner.objects.filter(**identity).values_list("pk", flat=True).first()
    if found is None:
        Owner.objects.bulk_create([Owner(**identity)], ignore_conflicts=True)
        found = Owner.objects.values_list("pk", flat=True).get(**identity)
    return found


@contextmanager
def owner_locked(owner_id: int) -> Iterator[Owner]:
    """One transaction that holds the owner's row: changes of one memory come one after the other."""
    with transaction.atomic():
        yield Owner.objects.select_for_update(no_key=True).get(pk=owner_id)


def owner_touch(owner: Owner, *, changes: int = 1, erases: bool = False) -> int:
    """Move the locked owner's change_seq (and erasure_epoch); the new change_seq."""
    epochs = 1 if erases else 0
    Owner.objects.filter(pk=owner.pk).update(
        change_seq=F("change_seq") + changes, erasure_epoch=F("erasure_epoch") + epochs
    )
    owner.change_seq += changes
    owner.erasure_epoch += epochs
    return owner.change_seq


def fact_locked(fact_id: UUID) -> Fact:
    """The fact as it is now, under its owner's lock. Raises FactGoneError once it is deleted."""
    fact = Fact.objects.filter(pk=fact_id, status=FactStatus.ACTIVE).first()
    if fact is None:
        raise FactGoneError(f"memory {fact_id} was deleted")
    return fact


@dataclass(frozen=True, slots=True)
class Staleness:
    """`dependents` are the active facts whose KV was computed from the changed ones."""

    encodings: int
    dependents: tuple[UUID, ...]


def mark_stale(owner: Owner, fact_ids: Collection[UUID], *, seq: int, turn_ids: Collection[UUID] = ()) -> Staleness:
    """No KV of these facts, nor any computed from them or these turns, is served again, nor a coming vector; readers
    learn it from `seq`.
    """
    ids = list(fact_ids)
    ComingVector.objects.filter(fact_id__in=ids).delete()
    # What a turn said, its facts say: who has read the turn has read them.
    said = Fact.objects.filter(pk__in=ids, source_turn__isnull=False).values_list("source_turn_id", flat=True)
    read = Q(context_fact_ids__overlap=ids) | Q(context_turn_ids__overlap=[*said, *turn_ids])
    affected = Encoding.objects.filter(Q(fact_id__in=ids) | read, owner=owner)
    affected = affected.exclude(state=EncodingState.STALE, keep_until=None)
    pairs = list(affected.values_list("pk", "fact_id"))
    affected.update(state=EncodingState.STALE, keep_until=None, error="", updated_at=timezone.now())
    others = {fact_id for _, fact_id in pairs if fact_id is not None} - set(ids)
    dependents = Fact.objects.filter(pk__in=others, status=FactStatus.ACTIVE)
    found = tuple(dependents.values_list("pk", flat=True))
    dependents.update(seq=seq)
    return Staleness(len(pairs), found)


def retire(owner: Owner, facts: Collection[Fact], *, seq: int, actor: str) -> Staleness:
    """Delete facts of the locked owner: no text search, no vector, no KV finds them from here on."""
    ids = [fact.pk for fact in facts]
    now = timezone.now()
    Summary.objects.all().delete()  # whichever of them repeat what these facts say
    Fact.objects.filter(pk__in=ids).update(status=FactStatus.DELETED, embedding=None, seq=seq, updated_at=now)
    deletion = {"tenant_id": owner.tenant_id, "event": FactHistory.Kind.DELETE, "actor": actor}
    history = [FactHistory(fact_id=fact.pk, old_text=fact.text, **deletion) for fact in facts]
    FactHistory.objects.bulk_create(history, batch_size=1000)
    return mark_stale(owner, ids, seq=seq)


def supersede(owner: Owner, replaced: Mapping[Fact, Fact], *, seq: int, actor: str) -> Staleness:
    """Like `retire`, for facts that no longer hold because of newer ones, which `replaced` gives for each.

    They keep how long they held, and say by what they were replaced.
    """
    now = timezone.now()
    for old, new in replaced.items():
        old.status, old.embedding, old.superseded_by_id = FactStatus.SUPERSEDED, None, new.pk
        old.valid_until, old.seq, old.updated_at = max(new.valid_from, old.valid_from), seq, now
    changed = ["status", "embedding", "superseded_by", "valid_until", "seq", "updated_at"]
    Fact.objects.bulk_update(replaced, changed, batch_size=1000)
    ended = {"tenant_id": owner.tenant_id, "event": FactHistory.Kind.DELETE, "actor": actor}
    FactHistory.objects.bulk_create(
        [
            FactHistory(
                fact_id=old.pk,
                old_text=old.text,
                superseded_by=new.pk,
                valid_from=old.valid_from,
                valid_until=old.valid_until,
                **ended,
            )
            for old, new in replaced.items()
        ]
    )
    return mark_stale(owner, [old.pk for old in replaced], seq=seq)


def event_record(
    *, tenant_id: UUID, event_type: str, results: list[dict[str, str]], event_id: UUID | None = None
) -> Event:
    """A call that succeeded at once, told to the tenant's webhooks. Runs in the tenant's scope."""
    now = timezone.now()
    event = Event.objects.create(
        pk=event_id or uuid4(),
        tenant_id=tenant_id,
        event_type=event_type,
        status=EventStatus.SUCCEEDED,
        results=results,
        started_at=now,
        completed_at=now,
    )
    tell_webhooks(event)
    return event


def tell_webhooks(event: Event) -> None:
    """Messages about what the event's results name, in the transaction that wrote them."""
    deliveries_create(tenant_id=event.tenant_id, event_id=event.pk, results=event.results)


def encode_on_commit(owner: Owner, fact_ids: Collection[UUID]) -> None:
    calls = [(owner.tenant_id, fact_id) for fact_id in fact_ids]
    if calls:
        transaction.on_commit(partial(_send_encode, calls), robust=True)


def drop_stale_on_commit(owner: Owner) -> None:
    transaction.on_commit(partial(_send_drop, owner.tenant_id, owner.pk), robust=True)


def _send_encode(calls: list[tuple[UUID, UUID]]) -> None:
    enqueue_many(ENCODE_FACT, calls)


def _send_drop(tenant_id: UUID, owner_id: int) -> None:
    enqueue(DROP_STALE, tenant_id, owner_id)
