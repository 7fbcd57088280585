"""The store against the database: every served blob is there and whole, every blob there belongs to an encoding."""

import logging
import time
from collections.abc import Callable, Iterator
from itertools import groupby
from uuid import UUID

from facts.enqueue import DROP_STALE, enqueue
from facts.selectors import ReadyBlob, known_keys, ready_blobs
from facts.services import encodings_mark_stale
from tenants.selectors import tenant_by_id

from memory.store import BlobStore
from workers.blobs import Blobs
from workers.parts import blobs as configured_blobs

BATCH = 1000
ROUNDS = 100
PERIOD_SECONDS = 120
ORPHAN_SECONDS = 3600

logger = logging.getLogger(__name__)


def audit_all(blobs: Blobs | None = None, now: float | None = None) -> None:
    """All served blobs exist; each ROUNDS-th of them is read and its checksum compared, another part every time.

    Raises StoreDown with nothing marked; EngineDown, EngineBroke.
    """
    blobs, now = blobs or configured_blobs(), time.time() if now is None else now
    turn = int(now // PERIOD_SECONDS)
    is_present = blobs.store.presence(turn)
    broken = [blob for blob in _ready() if not _is_whole(blobs.store, is_present, blob, turn)]
    for (tenant_id, owner_id), group in groupby(broken, key=lambda blob: (blob.tenant_id, blob.owner_id)):
        _encode_again(tenant_id, owner_id, [blob.encoding_id for blob in group])
    remove_orphans(blobs, f"{turn % 256:02x}", now)
    if removed := blobs.store.remove_unfinished(written_before=now - ORPHAN_SECONDS):
        logger.warning("%d files of writers that ended half-way are removed", removed)


def remove_orphans(blobs: Blobs, prefix: str, now: float) -> int:
    """Blobs whose keys begin so and that no encoding knows: their worker, or their database, went away meanwhile."""
    old = list(blobs.store.keys(prefix, written_before=now - ORPHAN_SECONDS))
    orphans = sorted(set(old) - known_keys(old))
    if orphans:
        logger.warning("%d blobs belong to no encoding and are removed", len(orphans))
        blobs.forget(orphans)
    return len(orphans)


def _ready() -> Iterator[ReadyBlob]:
    after = 0
    while batch := ready_blobs(after_id=after, limit=BATCH):
        yield from batch
        after = batch[-1].encoding_id


def _is_whole(store: BlobStore, is_present: Callable[[str], bool], blob: ReadyBlob, turn: int) -> bool:
    if blob.encoding_id % ROUNDS == turn % ROUNDS:
        return store.verify(blob.key) is not None
    return is_present(blob.key)


def _encode_again(tenant_id: UUID, owner_id: int, encoding_ids: list[int]) -> None:
    tenant = tenant_by_id(tenant_id)
    if tenant is None:
        return
    logger.warning("%d blobs of owner %s are missing or broken and are encoded again", len(encoding_ids), owner_id)
    encodings_mark_stale(tenant=tenant, ids=encoding_ids)
    enqueue(DROP_STALE, tenant.pk, owner_id)
