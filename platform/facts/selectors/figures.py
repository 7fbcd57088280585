"""How much memory there is and how far its encoding, in numbers for people."""

from contextlib import AbstractContextManager
from dataclasses import dataclass

from django.db.models import Count, Exists, OuterRef, Q, Sum
from tenants.models import Tenant
from tenants.scope import every_tenant, tenant_scope

from facts.models import Encoding, EncodingState, Fact, FactStatus
from facts.selectors.facts import not_expired


@dataclass(frozen=True, slots=True)
class MemoryFigures:
    """`waiting` facts have neither KV nor a failed attempt; `bytes` is all KV that is served, headers included."""

    facts: int
    owners: int
    ready: int
    waiting: int
    failed: int
    bytes: int

    @property
    def ready_share(self) -> float | None:
        return min(1.0, self.ready / self.facts) if self.facts else None


def memory_figures(*, tenant: Tenant | None) -> MemoryFigures:
    """Of one tenant, or of all where it is None."""
    with _scope(tenant):
        settled = Encoding.objects.filter(state__in=(EncodingState.READY, EncodingState.FAILED))
        holding = Fact.objects.filter(not_expired(), status=FactStatus.ACTIVE)
        by_owner = holding.order_by().values("owner_id").annotate(count=Count("pk"))
        held = by_owner.aggregate(facts=Sum("count", default=0), owners=Count("owner_id"))
        # A semi-join; counted per fact it takes seconds.
        waiting = held["facts"] - holding.filter(Exists(settled.filter(fact_id=OuterRef("pk")))).count()
        # What counts is the fact of an encoding, which a header has none of.
        encoded = settled.aggregate(
            ready=Count("fact_id", filter=Q(state=EncodingState.READY)),
            failed=Count("fact_id", filter=Q(state=EncodingState.FAILED)),
            bytes=Sum("bytes", filter=Q(state=EncodingState.READY)),
        )
    return MemoryFigures(
        facts=held["facts"],
        owners=held["owners"],
        ready=encoded["ready"],
        waiting=max(0, waiting),
        failed=encoded["failed"],
        bytes=encoded["bytes"] or 0,
    )


def _scope(tenant: Tenant | None) -> AbstractContextManager[None]:
    return tenant_scope(tenant) if tenant else every_tenant()
