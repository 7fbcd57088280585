"""The end of a tenant: staff order it, workers carry it out, batch by batch, and whoever is cut off is followed up."""

import logging
from functools import partial
from graphlib import TopologicalSorter

from django.db import models, transaction
from django.utils import timezone
from facts.enqueue import DELETE_TENANT, enqueue

from tenants.audit import audit_record
from tenants.models import Tenant
from tenants.scope import tenant_scope

BATCH = 1000

logger = logging.getLogger(__name__)


@transaction.atomic
def tenant_delete(*, tenant: Tenant, actor: str) -> bool:
    """Have workers delete a closed tenant and all it has. There is no way back.

    False when it is open, or its deletion was ordered already.
    """
    closed = Tenant.objects.filter(pk=tenant.pk, is_active=False, deleted_at=None)
    if not closed.update(deleted_at=timezone.now()):
        return False
    audit_record(tenant=tenant, actor=actor, action="tenant.delete", target=tenant.pk, details={"name": tenant.name})
    logger.warning("%s has tenant %s, %s, deleted", actor, tenant.pk, tenant.name)
    transaction.on_commit(partial(enqueue, DELETE_TENANT, tenant.pk), robust=True)
    return True


def tenant_rows_count(*, tenant: Tenant) -> dict[str, int]:
    """What goes with the tenant: how many of each kind, where there are any."""
    with tenant_scope(tenant):
        counts = {str(model._meta.verbose_name_plural): _rows(model).count() for model in _models()}
    return {kind: count for kind, count in sorted(counts.items()) if count}


def tenant_rows_delete(*, tenant: Tenant) -> int:
    """Delete all that a tenant has, whose deletion was ordered, and at last the tenant; how many rows.

    Each batch is a transaction of its own. No KV is dropped: what encodings still name would lie about unknown.
    """
    deleted = 0
    with tenant_scope(tenant):
        for model in _models():
            while batch := list(_rows(model).values_list("pk", flat=True)[:BATCH]):
                deleted += _rows(model).filter(pk__in=batch).only("pk").delete()[0]
        gone, _ = Tenant.objects.filter(pk=tenant.pk).exclude(deleted_at=None).delete()
    return deleted + gone


def _models() -> list[type[models.Model]]:
    """Those whose rows are tenants', each before those that it points to."""
    owned = [relation.related_model for relation in Tenant._meta.related_objects]
    pointing = {model: {relation.related_model for relation in model._meta.related_objects} for model in owned}
    order = TopologicalSorter({model: others - {model} for model, others in pointing.items()})
    return [model for model in order.static_order() if model in owned]


def _rows(model: type[models.Model]) -> "models.QuerySet[models.Model]":
    """In the caller's scope."""
    return model._default_manager.order_by()
