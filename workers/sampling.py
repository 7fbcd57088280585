"""How full the engine's tiers are, kept for a while."""

import logging
from datetime import datetime, timedelta

from django.utils import timezone
from usage.services import TierSampleData, tier_samples_delete, tier_samples_write

from workers.engine import EngineClient
from workers.port import EngineBroke, EngineDown

KEPT = timedelta(days=90)

logger = logging.getLogger(__name__)


def sample(engine: EngineClient, *, now: datetime | None = None) -> None:
    """Nothing is stored while the engine is away or its connector has reported nothing yet."""
    now = now or timezone.now()
    tier_samples_delete(before=now - KEPT)
    try:
        metrics = engine.metrics()
    except (EngineDown, EngineBroke) as error:
        logger.info("no sample of the tiers, the engine cannot be asked: %s", error)
        return
    samples = [
        TierSampleData(
            tier=name,
            bytes=use.bytes,
            bytes_used=use.bytes_used,
            hits=use.hits,
            filled=use.filled,
            evicted=use.evicted,
            lost=metrics.lost,
        )
        for name, use in metrics.tiers.items()
    ]
    tier_samples_write(samples, time=now)
