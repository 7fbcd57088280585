"""Tasks that keep the store true to the database, and the engine's memory to those who use it."""

import logging
from typing import Any

from celery import Task
from config.celery import app
from facts.services import owner_kv_drop
from tenants.selectors import tenant_known
from usage.holdings import owners_with_kv

from memory.store import StoreDown
from workers.attempts import try_later
from workers.auditing import audit_all
from workers.dropping import drop_stale_blobs
from workers.following import OWNERS, follow
from workers.limiting import limit_tenants
from workers.parts import blobs
from workers.port import EngineBroke, EngineDown
from workers.sampling import sample

logger = logging.getLogger(__name__)
SETTLED_SECONDS = 3  # by then what was ordered up is in memory, unless it is much


@app.task(bind=True, name="workers.tiering.drop_stale")
def drop_stale(self: "Task[Any, Any]", tenant_id: str, owner_id: str) -> None:
    """A paused tenant's too: what was deleted is to go."""
    tenant = tenant_known(tenant_id)
    if tenant is None:
        return
    try:
        drop_stale_blobs(tenant=tenant, owner_id=int(owner_id), blobs=blobs())
    except (EngineDown, EngineBroke) as error:
        try_later(self, error, args=(tenant_id, owner_id))


@app.task(name="workers.tiering.drop_tenants_kv")
def drop_tenants_kv(tenant_id: str) -> None:
    """Owner by owner; begun again, it goes on with those that are left."""
    tenant = tenant_known(tenant_id)
    while tenant is not None and (owner_ids := owners_with_kv(tenant=tenant, limit=OWNERS)):
        for owner_id in owner_ids:
            owner_kv_drop(tenant=tenant, owner_id=owner_id)


@app.task(bind=True, name="workers.tiering.forget_blob")
def forget_blob(self: "Task[Any, Any]", key: str) -> None:
    """A blob that no encoding refers to."""
    try:
        blobs().forget([key])
    except (EngineDown, EngineBroke) as error:
        try_later(self, error, args=(key,))


@app.task(name="workers.tiering.audit")
def audit() -> None:
    try:
        audit_all()
    except (StoreDown, EngineDown, EngineBroke) as error:
        logger.warning("the audit is left to the next: %s", error)


@app.task(name="workers.tiering.follow_activity")
def follow_activity() -> None:
    look = follow(blobs().engine)
    if look.promoted or look.moved:
        sample_tiers.apply_async(countdown=SETTLED_SECONDS)


@app.task(name="workers.tiering.sample_tiers")
def sample_tiers() -> None:
    sample(blobs())


@app.task(name="workers.tiering.limit_memory")
def limit_memory() -> None:
    limit_tenants(blobs().engine)
