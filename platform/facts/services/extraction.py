"""The life of an extraction, from the call that asks for it to its end or its next attempt."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import F, Q
from django.db.models.functions import Coalesce
from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import tenant_scope

from facts.enqueue import EXTRACT_FACTS, enqueue
from facts.errors import InvalidInputError
from facts.inputs import ExtractionWishes, Message
from facts.models import Event, EventStatus, Extraction, Turn
from facts.scopes import Scopes
from facts.services.add import check_count
from facts.services.change import event_record, owner_id
from facts.services.events import event_finish
from facts.services.quota import check_room
from facts.text import check_future, check_metadata, clean_categories, clean_fact_text
from facts.truth import says_something

SPEAKERS = ("user", "assistant")  # other roles instruct, or report what no person said
MAX_WISH = 8 * 1024
OPEN = (EventStatus.PENDING, EventStatus.RUNNING)


def extraction_request(
    *,
    tenant: Tenant,
    scopes: Scopes,
    messages: Sequence[Message],
    wishes: ExtractionWishes | None = None,
    metadata: dict[str, Any] | None = None,
    categories: Sequence[str] | None = None,
    expires_at: datetime | None = None,
    immutable: bool = False,
    occurred_at: datetime | None = None,
    event_id: UUID | None = None,
    actor: str = "",
) -> Event:
    """The pending event of a job that finds the messages' facts; one that succeeded when there is nothing to find.

    Raises InvalidInputError and stores nothing when any part cannot be stored, or the tenant's quota is used up.
    """
    check_count(messages)
    said = [
        (message, clean_fact_text(message.content, field=f"messages[{i}].content"))
        for i, message in enumerate(messages)
    ]
    said = [(message, content) for message, content in said if message.role in SPEAKERS and says_something(content)]
    details: dict[str, Any] = {
        **_checked_wishes(wishes or ExtractionWishes()),
        "metadata": check_metadata(metadata),
        "categories": clean_categories(categories),
        "expires_at": check_future(expires_at),
        "immutable": immutable,
        "actor": actor,
        **scopes.named,
    }
    with tenant_scope(tenant), transaction.atomic():
        owner = owner_id(tenant, scopes)
        if not said:
            return event_record(tenant_id=tenant.pk, event_type="ADD", results=[], event_id=event_id)
        check_room(tenant)
        event = Event.objects.create(pk=event_id or uuid4(), tenant=tenant, event_type="ADD")
        Extraction.objects.create(event=event, tenant=tenant, owner_id=owner, **details)
        now, tick = timezone.now(), timedelta(microseconds=1)
        Turn.objects.bulk_create(
            [
                Turn(
                    tenant=tenant,
                    owner_id=owner,
                    event=event,
                    run_id=scopes.run_id,
                    role=message.role,
                    content=content,
                    occurred_at=message.said_at or occurred_at or now,
                    created_at=now + tick * i,
                )
                for i, (message, content) in enumerate(said)
            ]
        )
        _extract_on_commit(event)
    return event


def extraction_start(*, tenant: Tenant, event_id: UUID) -> Extraction | None:
    """The extraction, running from here on; None once it has ended or was called off.

    Two may run at once: the first to end it is the one that counts.
    """
    now = timezone.now()
    with tenant_scope(tenant):
        events = Event.objects.filter(pk=event_id, status__in=OPEN, extraction__isnull=False)
        if not events.update(status=EventStatus.RUNNING, error="", started_at=Coalesce(F("started_at"), now)):
            return None
        Extraction.objects.filter(pk=event_id).update(attempts=F("attempts") + 1, updated_at=now)
        return Extraction.objects.select_related("event", "owner", "tenant").filter(pk=event_id).first()


def extraction_is_wanted(*, extraction: Extraction) -> bool:
    """Whether it still is to be done; noted as a sign of life."""
    with tenant_scope(extraction.tenant):
        running = Extraction.objects.filter(pk=extraction.pk, event__status=EventStatus.RUNNING)
        return bool(running.update(updated_at=timezone.now()))


def extraction_wait(*, extraction: Extraction, reason: str) -> None:
    """It will be tried again; meanwhile its event says why it was not done."""
    with tenant_scope(extraction.tenant):
        running = Event.objects.filter(pk=extraction.pk, status__in=OPEN)
        running.update(status=EventStatus.PENDING, error=reason)
        Extraction.objects.filter(pk=extraction.pk).update(updated_at=timezone.now())


def extraction_fail(*, extraction: Extraction, reason: str) -> None:
    """Its turns stay, so that `extraction_retry` can have it tried again."""
    with tenant_scope(extraction.tenant):
        event_finish(extraction.event, error=reason)


def extraction_retry(*, tenant: Tenant, event: Event) -> Event:
    """The event, pending again. Raises InvalidInputError unless it is a failed extraction that can be tried again."""
    with tenant_scope(tenant), transaction.atomic():
        failed = Event.objects.filter(pk=event.pk, status=EventStatus.FAILED, extraction__isnull=False)
        if not failed.update(status=EventStatus.PENDING, error="", started_at=None, completed_at=None):
            raise InvalidInputError("event_id", "only an add that failed can be tried again")
        Extraction.objects.filter(pk=event.pk).update(updated_at=timezone.now())
        _extract_on_commit(event)
        event.refresh_from_db()
    return event


def extraction_cancel(*, tenant: Tenant, event: Event, actor: str) -> bool:
    """Ended, and its turns erased; False when it had ended already."""
    reason = f"called off by {actor}"
    with tenant_scope(tenant), transaction.atomic():
        still_open = Extraction.objects.filter(pk=event.pk, event__status__in=OPEN).exists()
        return still_open and extractions_call_off(named=Q(pk=event.pk), reason=reason) == 1


def extractions_call_off(*, named: Q, reason: str) -> int:
    """End those that have not ended, and erase what they were to read. In the caller's transaction and scope."""
    event_ids = list(Extraction.objects.filter(named, event__status__in=(*OPEN, EventStatus.FAILED)).values_list("pk"))
    ids = [event_id for (event_id,) in event_ids]
    events = Event.objects.filter(pk__in=ids, status__in=(*OPEN, EventStatus.FAILED))
    ended = events.update(status=EventStatus.FAILED, error=reason, completed_at=timezone.now())
    Extraction.objects.filter(pk__in=ids).delete()
    Turn.objects.filter(event_id__in=ids).delete()
    return ended


def _extract_on_commit(event: Event) -> None:
    transaction.on_commit(partial(enqueue, EXTRACT_FACTS, event.tenant_id, event.pk), robust=True)


def _checked_wishes(wishes: ExtractionWishes) -> dict[str, Any]:
    named = {"instructions": wishes.instructions, "includes": wishes.includes, "excludes": wishes.excludes}
    for name, text in named.items():
        if len(text) > MAX_WISH or "\0" in text:
            raise InvalidInputError(name, f"{name} must have at most {MAX_WISH} characters, none of them NUL")
    clean_categories(list(wishes.categories))
    return {**named, "known_categories": dict(wishes.categories)}
