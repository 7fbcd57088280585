"""Which encodings might be made better, and whether there is time for it."""

from datetime import datetime
from uuid import UUID

from django.db.models import F, Max, Q, QuerySet
from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import every_tenant, tenant_scope

from facts.models import GRACE, Encoding, EncodingState, EventStatus, Extraction, Fact, FactStatus, Owner
from facts.selectors.facts import not_expired


def work_is_under_way() -> bool:
    """Whether anything of any tenant was being encoded or found in conversations a little while ago."""
    since = timezone.now() - GRACE
    unfinished = Q(event__status__in=(EventStatus.PENDING, EventStatus.RUNNING))
    with every_tenant():
        encoding = Encoding.objects.filter(state=EncodingState.PENDING, updated_at__gte=since)
        return encoding.exists() or Extraction.objects.filter(unfinished, updated_at__gte=since).exists()


def owners_unchecked(*, tenant: Tenant, limit: int) -> list[Owner]:
    """Some of those whose memory changed since it was last looked through, not always the same."""
    with tenant_scope(tenant):
        changed = Owner.objects.select_related("tenant").filter(change_seq__gt=F("checked_seq"))
        return list(changed.order_by("?")[:limit])


def facts_unrefined(*, owner: Owner, fingerprint: str, strategy: str, most: int, limit: int) -> list[UUID]:
    """Facts served by this strategy, the first stored first, but for those that were tried `most` times."""
    facts = _served(owner, fingerprint, strategy).filter(refreshes__lt=most)
    return [fact_id for fact_id in facts.values_list("fact_id", flat=True)[:limit] if fact_id]


def encodings_unchecked(*, owner: Owner, fingerprint: str, strategy: str, most: int, limit: int) -> list[Encoding]:
    """Served encodings that have not been compared with the newest facts, but for those refreshed `most` times."""
    facts = Fact.objects.filter(owner=owner, status=FactStatus.ACTIVE)
    newest: datetime | None = facts.aggregate(at=Max("updated_at"))["at"]
    if newest is None:
        return []
    unchecked = Q(checked_at=None) | Q(checked_at__lt=newest)
    return list(_served(owner, fingerprint, strategy).filter(unchecked, refreshes__lt=most)[:limit])


def vectors_of_owner(*, owner: Owner) -> dict[UUID, bytes]:
    """Of the facts that hold now, float32 little-endian of unit norm; without those that have none."""
    model = owner.tenant.embedding_model
    facts = Fact.objects.filter(not_expired(), owner=owner, status=FactStatus.ACTIVE, embedding_model=model)
    rows = facts.exclude(embedding=None).order_by("created_at", "pk").values_list("pk", "embedding")
    return {pk: bytes(vector) for pk, vector in rows if vector is not None}


def _served(owner: Owner, fingerprint: str, strategy: str) -> QuerySet[Encoding]:
    ready = Encoding.objects.filter(owner=owner, fingerprint=fingerprint, strategy=strategy, state=EncodingState.READY)
    holding = Q(fact__expires_at=None) | Q(fact__expires_at__gt=timezone.now())
    return ready.filter(holding, fact__status=FactStatus.ACTIVE).order_by("pk")
