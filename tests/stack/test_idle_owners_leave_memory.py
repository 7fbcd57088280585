"""Blobs leave the engine's memory with their owner's last activity, and are back before the owner asks for them."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from facts.models import Fact
from tenants.scope import every_tenant
from usage.models import OwnerActivity, RequestRecord, Residence

from tests.stack.app import App
from tests.stack.records import record_of
from tests.stack.stack import Stack
from tests.workers.running.processes import until
from workers.following import follow
from workers.parts import blobs

pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True)]
USED, FILLED = "inferscale:near_rows_used", "inferscale:near_filled_total"
FACTS = ("Alice has a cat called Pepper.", "Alice lives in Lisbon.", "Alice plays the accordion.")
QUESTION = "What is the name of Alice's cat?"
LONG_AGO = timedelta(days=30)


def look(stack: Stack, settings: Any) -> None:
    """As the worker does by itself every minute."""
    settings.ENV = stack.env
    follow(blobs().engine)


def rows_used(app: App, stack: Stack) -> int:
    """The connector reports with the next request that it does something for."""
    hits = stack.metric("inferscale:near_hits_total")
    app.ask("bob", "Where does Bob live?")
    until(lambda: stack.metric("inferscale:near_hits_total") > hits, "the connector reports", 20)
    return int(stack.metric(USED))


def filled_after(app: App, stack: Stack) -> int:
    rows_used(app, stack)
    return int(stack.metric(FILLED))


def rest_for_long(app: App, user: str) -> None:
    with every_tenant():
        OwnerActivity.objects.filter(tenant=app.tenant, owner__name=user).update(active_at=timezone.now() - LONG_AGO)
        for model, owner in ((Fact, {"user_id": user}), (RequestRecord, {"owner_name": user})):
            model.objects.filter(tenant=app.tenant, **owner).update(created_at=timezone.now() - LONG_AGO)


def residence(app: App, user: str) -> str:
    with every_tenant():
        return OwnerActivity.objects.get(tenant=app.tenant, owner__name=user).residence


def test_idle_owners_leave_memory_and_active_ones_are_back_before_they_ask(
    app: App, stack: Stack, settings: Any
) -> None:
    app.remember("alice", *FACTS)
    app.remember("bob", "Bob lives in Oslo.")
    app.until_encoded("alice", "bob")
    with stack.worker_paused():  # it looks by itself
        follow_alice(app, stack, settings)


def follow_alice(app: App, stack: Stack, settings: Any) -> None:
    look(stack, settings)
    both = rows_used(app, stack)
    encodings = app.encodings("alice").values()
    alices = sum(encoding.tokens or 0 for encoding in encodings)

    rest_for_long(app, "alice")
    look(stack, settings)
    assert residence(app, "alice") == Residence.DISK
    assert residence(app, "bob") == Residence.MEMORY
    assert rows_used(app, stack) == both - alices

    record_of(app, app.ask("alice", QUESTION, mode="prompt").response)  # text only: it loads nothing by itself
    assert rows_used(app, stack) == both - alices
    filled = stack.metric(FILLED)
    look(stack, settings)
    until(lambda: rows_used(app, stack) == both, "alice's blobs have their rows", 30)
    until(lambda: filled_after(app, stack) == filled + len(encodings), "they are filled", 30)

    reply = app.ask("alice", QUESTION)
    assert reply.cached_tokens == reply.injected == alices
    assert "Pepper" in reply.text
    assert filled_after(app, stack) == filled + len(encodings)
