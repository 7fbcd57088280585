"""Adds whose facts a job finds, and that job."""

from datetime import UTC, datetime
from typing import Any

from facts.models import Event, Fact
from facts.services import Message, extraction_request
from tenants.models import Tenant

from tests.factories import ALICE
from tests.workers.helpers import finished
from workers.extract import extract_facts

WEDNESDAY = datetime(2026, 3, 4, 10, tzinfo=UTC)


def ask(tenant: Tenant, *said: str, **options: Any) -> Event:
    """An add whose job is not done yet."""
    messages = [Message("user", text) for text in said]
    return extraction_request(tenant=tenant, scopes=ALICE, messages=messages, occurred_at=WEDNESDAY, **options)


def run(tenant: Tenant, event: Event) -> Event:
    """With all its retries."""
    finished(extract_facts, tenant.pk, event.pk)
    event.refresh_from_db()
    return event


def find(tenant: Tenant, *said: str, **options: Any) -> Event:
    return run(tenant, ask(tenant, *said, **options))


def texts() -> list[str]:
    return list(Fact.objects.filter(status="active").order_by("created_at").values_list("text", flat=True))
