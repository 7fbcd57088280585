"""Erasing somebody wherever the platform keeps texts."""

from django.db import transaction
from facts.inputs import DeleteResult
from facts.services import entity_erase
from jobs.services import exports_erase, imports_erase
from tenants.models import Tenant

from api.idempotency import kept_answers_erase


@transaction.atomic
def owner_erase(*, tenant: Tenant, kind: str, name: str, actor: str) -> DeleteResult:
    """As `entity_erase`; exports, what imports have not stored yet and answers kept for repeated calls go too: they
    repeat these texts.
    """
    imports_erase(tenant=tenant, named={f"{kind}_id": name})  # first: what is stored meanwhile is erased then
    erased = entity_erase(tenant=tenant, kind=kind, name=name, actor=actor)
    kept_answers_erase(tenant=tenant)
    exports_erase(tenant=tenant)
    return erased
