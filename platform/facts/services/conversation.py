"""Taking in what was said in a chat, after the answer and perhaps more than once."""

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from django.db import transaction
from tenants.models import Tenant
from tenants.scope import tenant_scope

from facts.inputs import Message
from facts.models import Event, Owner
from facts.scopes import Scopes
from facts.services.extraction import extraction_request
from facts.wishes import extraction_wishes


def conversation_add(
    *,
    tenant: Tenant,
    scopes: Scopes,
    messages: Sequence[Message],
    said_at: datetime,
    event_id: UUID,
    actor: str = "",
) -> Event | None:
    """The event of the job that finds the messages' facts, which an earlier call with this id may have left.

    None, and nothing is stored, when all memory of its owner was deleted after it was said.

    Raises InvalidInputError as `extraction_request` does.
    """
    with tenant_scope(tenant), transaction.atomic():
        if known := Event.objects.filter(pk=event_id).first():
            return known
        if Owner.objects.filter(kind=scopes.owner_kind, name=scopes.owner_name, erased_at__gte=said_at).exists():
            return None
        return extraction_request(
            tenant=tenant,
            scopes=scopes,
            messages=messages,
            wishes=extraction_wishes(tenant=tenant),
            occurred_at=said_at,
            event_id=event_id,
            actor=actor,
        )
