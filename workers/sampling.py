"""How full the tiers are, kept for a while, and whose blobs the engine has in memory."""

import logging
from collections import defaultdict
from datetime import datetime, timedelta

from django.utils import timezone
from facts.selectors import OwnedBlob, blobs_by_key, kv_total
from usage.engine_metrics import EngineMetrics
from usage.tiers import (
    TierHoldingData,
    TierSampleData,
    tier_holdings_replace,
    tier_samples_delete,
    tier_samples_write,
)

from workers.blobs import Blobs
from workers.port import EngineAway, EngineBroke, EngineDown

KEPT = timedelta(days=90)

logger = logging.getLogger(__name__)


def sample(blobs: Blobs, *, now: datetime | None = None) -> None:
    """While the engine is away no tier is sampled, and what it had of whom stays as it was told last, unless it has
    ended: its memory went with it.
    """
    now = now or timezone.now()
    tier_samples_delete(before=now - KEPT)
    try:
        metrics, held = blobs.engine.metrics(), blobs.engine.held()
    except EngineAway:
        tier_holdings_replace([])
        return
    except (EngineDown, EngineBroke) as error:
        logger.info("no sample of the tiers, the engine cannot be asked: %s", error)
        return
    tier_holdings_replace(_holdings(held))
    memory = _memory_samples(metrics)
    if memory:  # its connector has reported
        tier_samples_write([*memory, _store_sample(metrics, blobs.store.free_bytes())], time=now)


def _memory_samples(metrics: EngineMetrics) -> list[TierSampleData]:
    return [
        TierSampleData(
            tier=name,
            bytes=use.bytes,
            bytes_used=use.bytes_used,
            blobs=use.blobs,
            hits=use.hits,
            filled=use.filled,
            evicted=use.evicted,
            lost=metrics.lost,
            lookups=use.lookups,
            found=use.found,
        )
        for name, use in metrics.tiers.items()
    ]


def _store_sample(metrics: EngineMetrics, free: int | None) -> TierSampleData:
    size, count = kv_total()
    return TierSampleData(
        tier="disk",
        bytes=0 if free is None else size + free,
        bytes_used=size,
        blobs=count,
        hits=metrics.disk_hits,
        filled=metrics.encoded,
        evicted=0,
        lost=metrics.lost,
        lookups=metrics.disk_hits + metrics.lost,
        found=metrics.disk_hits,
    )


def _holdings(held: dict[str, list[str]]) -> list[TierHoldingData]:
    known = blobs_by_key({key for keys in held.values() for key in keys})
    found = defaultdict[tuple[str, int], list[OwnedBlob]](list)
    for tier, keys in held.items():
        for key in keys:
            if blob := known.get(key):
                found[tier, blob.owner_id].append(blob)
    return [
        TierHoldingData(
            tenant_id=blobs[0].tenant_id,
            owner_id=owner_id,
            tier=tier,
            blobs=len(blobs),
            bytes=sum(blob.bytes for blob in blobs),
        )
        for (tier, owner_id), blobs in found.items()
    ]
