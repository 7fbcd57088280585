"""Tasks that keep the store true to the database, and the engine's memory to those who use it."""

from typing import Any

from celery import Task
from config.celery import app
from tenants.selectors import tenant_by_id

from workers.attempts import try_later
from workers.auditing import audit_all
from workers.dropping import drop_stale_blobs
from workers.following import follow
from workers.parts import blobs
from workers.port import EngineBroke, EngineDown
from workers.sampling import sample


@app.task(bind=True, name="workers.tiering.drop_stale")
def drop_stale(self: "Task[Any, Any]", tenant_id: str, owner_id: str) -> None:
    tenant = tenant_by_id(tenant_id)
    if tenant is None:
        return
    try:
        drop_stale_blobs(tenant=tenant, owner_id=int(owner_id), blobs=blobs())
    except (EngineDown, EngineBroke) as error:
        try_later(self, error, args=(tenant_id, owner_id))


@app.task(bind=True, name="workers.tiering.forget_blob")
def forget_blob(self: "Task[Any, Any]", key: str) -> None:
    """A blob that no encoding refers to."""
    try:
        blobs().forget([key])
    except (EngineDown, EngineBroke) as error:
        try_later(self, error, args=(key,))


@app.task(name="workers.tiering.audit")
def audit() -> None:
    audit_all()


@app.task(name="workers.tiering.follow_activity")
def follow_activity() -> None:
    follow(blobs().engine)


@app.task(name="workers.tiering.sample_tiers")
def sample_tiers() -> None:
    sample(blobs().engine)
