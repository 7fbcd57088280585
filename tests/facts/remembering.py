"""Conversations whose facts a test names itself."""

from datetime import datetime
from typing import Any

from facts.inputs import FoundFact
from facts.models import Event, Extraction
from facts.scopes import Scopes
from facts.selectors import extraction_turns, facts_matching
from facts.services import Message, extraction_request, extraction_start, facts_remember
from tenants.models import Tenant

from tests.factories import ALICE


def started(tenant: Tenant, *said: str, scopes: Scopes = ALICE, **options: Any) -> Extraction:
    messages = [Message("user", text) for text in said]
    event = extraction_request(tenant=tenant, scopes=scopes, messages=messages, **options)
    extraction = extraction_start(tenant=tenant, event_id=event.pk)
    assert extraction is not None
    return extraction


def remember(tenant: Tenant, *texts: str, at: datetime | None = None, **options: Any) -> Event:
    """A conversation in which each of these was said, and found."""
    judged = options.pop("judged", None)
    extraction = started(tenant, *texts, occurred_at=at, **options)
    turns = extraction_turns(extraction=extraction)
    found = [FoundFact(text, turn.pk, turn.occurred_at) for text, turn in zip(texts, turns, strict=True)]
    event = facts_remember(extraction=extraction, found=found, judged=judged)
    assert event is not None
    assert event.status == "SUCCEEDED"
    return event


def active(tenant: Tenant) -> list[str]:
    return [fact.text for fact in facts_matching(tenant=tenant).order_by("created_at")]


def kinds(event: Event) -> list[str]:
    return [result["event"] for result in event.results]
