"""Stale encodings: their blobs leave every tier, then their rows go, then what is left to encode is sent."""

from uuid import UUID

from facts.enqueue import ENCODE_FACT, enqueue, enqueue_many
from facts.selectors import encodings_to_drop, facts_unencoded
from facts.services import encoding_drop
from tenants.models import Tenant

from memory.encoding import strategy_names
from workers.blobs import Blobs
from workers.model import encoding_model

ENCODE_HEADER = "workers.encode.encode_header"


def drop_stale_blobs(*, tenant: Tenant, owner_id: int, blobs: Blobs) -> None:
    """Raises EngineDown, EngineBroke with the rows still there: to be called again."""
    fact_ids: set[UUID] = set()
    dropped_header = False
    while batch := encodings_to_drop(tenant=tenant, owner_id=owner_id):
        blobs.forget(sorted({entry.key for entry in batch if entry.key and not entry.shared}))
        for entry in batch:
            encoding_drop(encoding=entry.encoding)
            if entry.encoding.fact_id is None:
                dropped_header = True
            else:
                fact_ids.add(entry.encoding.fact_id)
    if dropped_header:
        enqueue(ENCODE_HEADER, tenant.pk, owner_id)
    if fact_ids:
        fingerprint, strategies = encoding_model().fingerprint, strategy_names(tenant.strategy)
        unencoded = facts_unencoded(tenant=tenant, fact_ids=fact_ids, fingerprint=fingerprint, strategies=strategies)
        enqueue_many(ENCODE_FACT, [(tenant.pk, fact_id) for fact_id in unencoded])
