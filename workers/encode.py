"""Tasks that encode."""

from functools import partial
from typing import Any
from uuid import UUID

from celery import Task
from config.celery import app
from facts.models import Owner
from facts.selectors import fact_get, kv_is_full
from tenants.scope import tenant_scope
from tenants.selectors import tenant_by_id

from workers.attempts import attempt
from workers.parts import encoder
from workers.refining import refine_all
from workers.sweeping import sweep_all


@app.task(bind=True, name="workers.encode.encode_fact")
def encode_fact(self: "Task[Any, Any]", tenant_id: str, fact_id: str, failures: int = 0) -> None:
    tenant = tenant_by_id(tenant_id)
    fact = fact_get(tenant=tenant, fact_id=UUID(fact_id)) if tenant else None
    if tenant is None or fact is None or kv_is_full(tenant=tenant):
        return
    with tenant_scope(tenant):
        coder = encoder()
        give_up = partial(coder.give_up, fact)
        attempt(self, partial(coder.encode_fact, fact), give_up, args=(tenant_id, fact_id), failures=failures)


@app.task(bind=True, name="workers.encode.encode_header")
def encode_header(self: "Task[Any, Any]", tenant_id: str, owner_id: str, failures: int = 0) -> None:
    tenant = tenant_by_id(tenant_id)
    if tenant is None:
        return
    with tenant_scope(tenant):
        owner = Owner.objects.select_related("tenant").filter(pk=int(owner_id)).first()
        if owner is None:
            return
        coder = encoder()
        give_up = partial(coder.give_up, owner)
        attempt(self, partial(coder.encode_header, owner), give_up, args=(tenant_id, owner_id), failures=failures)


@app.task(name="workers.encode.refine")
def refine() -> None:
    refine_all(encoder)


@app.task(name="workers.encode.sweep")
def sweep() -> None:
    sweep_all()
