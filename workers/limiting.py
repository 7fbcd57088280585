"""Tells the engine how much of its memory tenants with quotas may have: again and again, for engines start anew."""

import logging

from tenants.selectors import quotas_all

from memory.contracts import MemoryLimit
from workers.engines import Engines
from workers.port import EngineBroke, EngineDown

logger = logging.getLogger(__name__)


def limit_tenants(engines: Engines) -> None:
    quotas = quotas_all()
    if not quotas:
        return
    limits = [MemoryLimit(str(quota.tenant_id), quota.kv_gpu_bytes, quota.kv_host_bytes) for quota in quotas]
    try:
        engines.limit([limit for limit in limits if (limit.gpu_bytes, limit.host_bytes) != (None, None)])
    except (EngineDown, EngineBroke) as error:
        logger.info("the engine was not told the tenants' limits: %s", error)
