"""Events of work that does not end with its call: opened with it, started and finished by whoever does the work."""

from collections.abc import Sequence

from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import tenant_scope

from facts.models import Event, EventStatus
from facts.services.change import tell_webhooks


def event_open(*, tenant: Tenant, event_type: str) -> Event:
    with tenant_scope(tenant):
        return Event.objects.create(tenant=tenant, event_type=event_type)


def event_start(event: Event) -> None:
    """Runs in the tenant's scope. Work that is taken up again keeps its first start."""
    fresh = Event.objects.filter(pk=event.pk, status=EventStatus.PENDING)
    fresh.update(status=EventStatus.RUNNING, started_at=timezone.now())


def event_finish(event: Event, *, results: Sequence[dict[str, str]] = (), error: str = "") -> None:
    """Succeeded, or failed with `error`; told to webhooks. Runs in the tenant's scope; the first end stands."""
    status = EventStatus.FAILED if error else EventStatus.SUCCEEDED
    going = Event.objects.filter(pk=event.pk, status__in=(EventStatus.PENDING, EventStatus.RUNNING))
    if going.update(status=status, results=list(results), error=error, completed_at=timezone.now()):
        event.refresh_from_db()
        tell_webhooks(event)
