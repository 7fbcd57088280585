"""Finds what is left to do, whatever was lost on the way: the database says it."""

import logging
from typing import Any

from config.celery import app
from facts.enqueue import DROP_STALE, ENCODE_FACT, EXTRACT_FACTS, enqueue_many
from facts.selectors import (
    encodings_outdated,
    encodings_unfinished,
    extractions_unfinished,
    headers_unfinished,
    kv_is_full,
    owners_with_stale,
)
from facts.services import encodings_mark_stale, facts_claim_outdated, facts_embed_missing
from kombu.exceptions import ChannelError
from tenants.models import Tenant
from tenants.selectors import tenants_active, tenants_paused

from memory.encoding import parse_stages
from workers.dropping import ENCODE_HEADER
from workers.embedding import follow_embedding_model
from workers.model import encoding_model

QUEUE = "encode"
EXTRACT_QUEUE = "extract"
BUSY = 50
CLAIMS = 2000  # about half a second

logger = logging.getLogger(__name__)


def sweep_all() -> None:
    """One tenant's trouble is not the others'. Of a paused one deletions go on, nothing else."""
    for sweep, tenants in ((sweep_tenant, tenants_active()), (sweep_stale, tenants_paused())):
        for tenant in tenants:
            try:
                sweep(tenant)
            except Exception:
                logger.exception("sweep of tenant %s failed", tenant.pk)


def sweep_tenant(tenant: Tenant) -> None:
    if queued(EXTRACT_QUEUE) < BUSY:
        enqueue_many(EXTRACT_FACTS, [(tenant.pk, event_id) for event_id in extractions_unfinished(tenant=tenant)])
    model, stages = encoding_model(), parse_stages(tenant.strategy)
    names: dict[str, Any] = {"fingerprint": model.fingerprint, "strategies": stages.names}
    while outdated := encodings_outdated(tenant=tenant, **names):
        encodings_mark_stale(tenant=tenant, ids=outdated)
    facts_claim_outdated(tenant=tenant, limit=CLAIMS)
    facts_embed_missing(tenant=tenant)
    follow_embedding_model(tenant)
    sweep_stale(tenant)
    if queued() >= BUSY or kv_is_full(tenant=tenant):
        return  # what looks forgotten may only wait for its turn, or for room
    enqueue_many(ENCODE_HEADER, [(tenant.pk, owner_id) for owner_id in headers_unfinished(tenant=tenant, **names)])
    enqueue_many(ENCODE_FACT, [(tenant.pk, fact_id) for fact_id in encodings_unfinished(tenant=tenant, **names)])


def sweep_stale(tenant: Tenant) -> None:
    enqueue_many(DROP_STALE, [(tenant.pk, owner_id) for owner_id in owners_with_stale(tenant=tenant)])


def queued(queue: str = QUEUE) -> int:
    """Tasks that no worker has taken."""
    with app.connection_for_read() as connection:
        channel: Any = connection.default_channel
        try:
            return int(channel.queue_declare(queue, passive=True).message_count)
        except ChannelError:  # Redis has no empty lists
            return 0
