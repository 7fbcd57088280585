"""Blobs follow their owners: up before those who became active ask again, down to disk once somebody is idle."""

import logging
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.utils import timezone
from facts.selectors import blobs_of_owner, keys_of_owners
from tenants.affinity import owner_affinity
from usage.selectors import activity_seen_until, owners_to_move, owners_to_promote
from usage.services import owner_activity_note, owners_moved, owners_promoted

from memory.contracts import MAX_ITEMS, Segment
from workers.engines import Engines
from workers.port import EngineBroke, EngineDown

OWNERS = 100
LATE = timedelta(minutes=2)  # records and facts carry the time before they were committed
MOST_TOLD, SHOWN = 1000, 20

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Look:
    """Ids of owners; `left` are those for the next looks, at most MOST_TOLD of either kind."""

    promoted: tuple[int, ...] = ()
    moved: tuple[int, ...] = ()
    left: tuple[int, ...] = ()


def follow(engine: Engines, *, now: datetime | None = None) -> Look:
    """At most OWNERS owners each way. The database says who is left, so nothing is lost with a look or an engine."""
    now = now or timezone.now()
    idle_before = now - timedelta(seconds=settings.ENV.idle_seconds)
    owner_activity_note(since=(activity_seen_until() or idle_before) - LATE, now=now)
    promoted, moved = list[int](), tuple[int, ...]()
    try:
        moved = _move_idle(engine, idle_before)
        for owner_id in _promote_active(engine, idle_before):
            promoted.append(owner_id)
    except (EngineDown, EngineBroke) as error:
        logger.info("tiers are left as they are, the engine cannot be asked: %s", error)
    look = Look(tuple(promoted), moved, _left(idle_before))
    _tell(look)
    return look


def _move_idle(engine: Engines, idle_before: datetime) -> tuple[int, ...]:
    owner_ids = tuple(owner.pk for owner in owners_to_move(idle_before=idle_before)[:OWNERS])
    engine.move(keys_of_owners(owner_ids), tier="disk")
    owners_moved(owner_ids=owner_ids, idle_before=idle_before)
    return owner_ids


def _promote_active(engine: Engines, idle_before: datetime) -> Iterator[int]:
    """Each as soon as its blobs are on their way. A memory too large for one order comes up in part, the newest."""
    waiting = owners_to_promote(idle_before=idle_before).select_related("tenant", "owner")
    for activity in waiting[:OWNERS]:
        owner = activity.owner
        blobs = blobs_of_owner(tenant=activity.tenant, owner_id=owner.pk, limit=MAX_ITEMS)
        affinity = owner_affinity(tenant_id=activity.tenant_id, kind=owner.kind, name=owner.name)
        engine.promote([Segment(*blob) for blob in blobs], tenant=str(activity.tenant_id), affinity=affinity)
        owners_promoted(owner_ids=[owner.pk])
        yield owner.pk


def _left(idle_before: datetime) -> tuple[int, ...]:
    left = [owners_to_promote(idle_before=idle_before), owners_to_move(idle_before=idle_before)]
    return tuple(owner_id for owners in left for owner_id in owners.values_list("pk", flat=True)[:MOST_TOLD])


def _tell(look: Look) -> None:
    if look.promoted or look.moved:
        logger.info("%d owners are promoted, %d moved to disk", len(look.promoted), len(look.moved))
    if look.left:
        first = ", ".join(map(str, look.left[:SHOWN]))
        logger.info("%d owners are left to the next look, the first %s", len(look.left), first)
