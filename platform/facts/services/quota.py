"""How many facts a tenant may have stored."""

from uuid import UUID

from tenants.models import Quota, Tenant
from tenants.selectors import tenant_quota

from facts.errors import QuotaExceededError
from facts.models import Fact, FactStatus


def check_room(tenant: Tenant) -> None:
    """Whether one more fact could be stored, before work is done for it. In the tenant's scope.

    Raises QuotaExceededError.
    """
    limit = tenant_quota(tenant=tenant).facts
    if limit is not None and _count_up_to(limit) >= limit:
        raise QuotaExceededError(limit)


def check_stored(tenant_id: UUID) -> None:
    """In the tenant's scope and the transaction that stored facts, which the error undoes.

    Who stores at the same time waits for its end, so that together they do not exceed what each of them may.

    Raises QuotaExceededError.
    """
    quota = Quota.objects.select_for_update(no_key=True).filter(tenant_id=tenant_id, facts__isnull=False).first()
    if quota is not None and quota.facts is not None and _count_up_to(quota.facts + 1) > quota.facts:
        raise QuotaExceededError(quota.facts)


def _count_up_to(limit: int) -> int:
    return Fact.objects.filter(status=FactStatus.ACTIVE).order_by()[:limit].count()
