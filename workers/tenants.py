"""Tasks that delete the tenants whose deletion staff ordered, and find those that were left."""

import logging
from typing import Any

from celery import Task
from config.celery import app
from facts.enqueue import DELETE_TENANT, enqueue_many
from facts.exclusive import alone_with
from facts.selectors import blobs_known
from facts.services import encodings_delete
from tenants.deletion import tenant_rows_delete
from tenants.models import Tenant
from tenants.selectors import tenant_deleted, tenants_deleted

from workers.attempts import try_later
from workers.blobs import Blobs
from workers.parts import blobs
from workers.port import EngineBroke, EngineDown

logger = logging.getLogger(__name__)


@app.task(bind=True, name=DELETE_TENANT)
def delete(self: "Task[Any, Any]", tenant_id: str) -> None:
    """One at a time; it goes on with what an earlier one left."""
    tenant = tenant_deleted(tenant_id)
    if tenant is None:
        return
    try:
        with alone_with(tenant.pk) as is_alone:
            if is_alone:
                delete_tenant(tenant=tenant, blobs=blobs())
    except (EngineDown, EngineBroke) as error:
        try_later(self, error, args=(tenant_id,))


@app.task(name="workers.tenants.resume")
def resume() -> None:
    enqueue_many(DELETE_TENANT, [(tenant.pk,) for tenant in tenants_deleted()])


def delete_tenant(*, tenant: Tenant, blobs: Blobs) -> None:
    """Its blobs leave every tier, then all its rows go. Raises EngineDown, EngineBroke: to be called again."""
    dropped = 0
    while batch := blobs_known(tenant=tenant):
        keys = sorted({blob.key for blob in batch if blob.key})
        blobs.forget(keys)
        encodings_delete(tenant=tenant, ids=[blob.encoding_id for blob in batch])
        dropped += len(keys)
    rows = tenant_rows_delete(tenant=tenant)
    logger.warning(
        "tenant %s, %s, is deleted: its last %d blobs, its last %d rows", tenant.pk, tenant.name, dropped, rows
    )
