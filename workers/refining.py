"""When nothing else is to be encoded, facts get better blobs, from contexts that were not there or too dear before."""

import logging
import time
from collections.abc import Callable, Iterator
from uuid import UUID

import numpy as np
from django.conf import settings
from django.core.exceptions import ObjectDoesNotExist
from django.utils import timezone
from facts.embedding import vector_of
from facts.errors import FactGoneError
from facts.models import Encoding, Owner
from facts.selectors import (
    encodings_unchecked,
    fact_get,
    facts_unrefined,
    owners_unchecked,
    vectors_of_owner,
    work_is_under_way,
)
from facts.services import encodings_note_checked, owner_note_checked
from tenants.models import Tenant
from tenants.scope import tenant_scope
from tenants.selectors import tenants_active

from memory.encoding import ContextStrategy, Stages, changed_shares, parse_stages
from workers.encoder import Encoder, Outcome
from workers.port import EngineDown
from workers.sweeping import EXTRACT_QUEUE, QUEUE, queued

SECONDS = 20.0  # of a look; the next one is due soon
OWNERS = 100  # of each tenant
FACTS = 100  # of an owner
CHECKED = 1000  # encodings of an owner that are compared with its newest facts

logger = logging.getLogger(__name__)


class Busy(Exception):
    """There is other work, or the look has lasted long enough."""


def refine_all(encoder: Callable[[], Encoder], *, seconds: float = SECONDS) -> None:
    """What is left, the database says to the next look. One tenant's trouble is not the others'."""
    until = time.monotonic() + seconds
    for tenant in tenants_active():
        refined = 0
        try:
            for outcome in _refine_tenant(encoder, tenant, until):
                refined += outcome is Outcome.READY
        except Busy:
            return
        except EngineDown as error:
            logger.info("no more facts are refined, the engine cannot be asked: %s", error)
            return
        except Exception:
            logger.exception("the facts of tenant %s are not refined", tenant.pk)
        finally:
            if refined:
                logger.info("%d facts of tenant %s are refined", refined, tenant.pk)


def is_idle() -> bool:
    return not queued(QUEUE) and not queued(EXTRACT_QUEUE) and not work_is_under_way()


def _refine_tenant(encoder: Callable[[], Encoder], tenant: Tenant, until: float) -> Iterator[Outcome]:
    """Raises Busy, EngineDown."""
    stages = parse_stages(tenant.strategy)
    if not stages.refine:
        return
    with tenant_scope(tenant):
        for owner in owners_unchecked(tenant=tenant, limit=OWNERS):
            _yield_to_others(until)
            coder = encoder()
            fact_ids, is_all = _due(owner, stages, coder.model.fingerprint)
            for fact_id in fact_ids:
                _yield_to_others(until)
                outcome = _refine(coder, tenant, fact_id)
                is_all &= outcome is Outcome.READY
                yield outcome
            if is_all:
                owner_note_checked(owner=owner, seq=owner.change_seq)


def _yield_to_others(until: float) -> None:
    if time.monotonic() >= until or not is_idle():
        raise Busy


def _refine(encoder: Encoder, tenant: Tenant, fact_id: UUID) -> Outcome:
    fact = fact_get(tenant=tenant, fact_id=fact_id)
    if fact is None:
        return Outcome.LOST
    try:
        return encoder.refine_fact(fact, least_new=settings.ENV.refresh_share)
    except (FactGoneError, ObjectDoesNotExist):
        return Outcome.LOST


def _due(owner: Owner, stages: Stages, fingerprint: str) -> tuple[list[UUID], bool]:
    """Facts to refine, and whether those are all that the owner has by now."""
    most = settings.ENV.refreshes
    due, unchecked = list[UUID](), list[Encoding]()
    if stages.first != stages.best:
        due = facts_unrefined(
            owner=owner, fingerprint=fingerprint, strategy=stages.first.name, most=max(most, 1), limit=FACTS
        )
    if stages.best.looks_ahead:
        unchecked = encodings_unchecked(
            owner=owner, fingerprint=fingerprint, strategy=stages.best.name, most=most, limit=CHECKED
        )
    is_all = len(due) < FACTS and len(unchecked) < CHECKED
    return [*due, *_outdated(owner, unchecked, stages.best)], is_all


def _outdated(owner: Owner, unchecked: list[Encoding], strategy: ContextStrategy) -> list[UUID]:
    """Facts of these encodings whose nearest are others now; the rest is noted as checked."""
    if not unchecked:
        return []
    now, vectors = timezone.now(), vectors_of_owner(owner=owner)
    row_of = {fact_id: row for row, fact_id in enumerate(vectors)}
    compared = [encoding for encoding in unchecked if encoding.fact_id in row_of]
    shares = changed_shares(
        np.stack([vector_of(vector) for vector in vectors.values()]) if vectors else np.empty((0, 0), np.float32),
        [row_of[encoding.fact_id] for encoding in compared if encoding.fact_id],
        [{row_of[pk] for pk in encoding.context_fact_ids if pk in row_of} for encoding in compared],
        n=strategy.n,
    )
    outdated = {
        encoding.pk: encoding.fact_id
        for encoding, share in zip(compared, shares, strict=True)
        if encoding.fact_id and share >= settings.ENV.refresh_share
    }
    encodings_note_checked(ids=[encoding.pk for encoding in unchecked if encoding.pk not in outdated], at=now)
    return list(outdated.values())
