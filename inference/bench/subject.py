"""A tenant and a user to measure with: made once, then found again."""

import time
from collections.abc import Callable
from datetime import timedelta

from django.utils import timezone
from facts.inputs import Message
from facts.models import Encoding, EncodingState, Fact, FactStatus
from facts.scopes import Scopes
from facts.services import facts_add
from tenants.models import Tenant
from tenants.scope import tenant_scope
from tenants.services import api_key_create, tenant_create

KEY_LIFE = timedelta(hours=6)
POLL_SECONDS = 0.5
BATCH = 50


class EncodingStuckError(RuntimeError):
    """Facts were not encoded in time, or failed; the message says how far it came."""


def bench_tenant(name: str) -> Tenant:
    return Tenant.objects.filter(slug=name).first() or tenant_create(name=name, slug=name)


def run_key(tenant: Tenant, purpose: str) -> str:
    """A key for one run: never shown, and gone by itself."""
    _, raw = api_key_create(tenant=tenant, name=purpose, expires_at=timezone.now() + KEY_LIFE)
    return raw


def add_texts(tenant: Tenant, user: str, texts: list[str]) -> None:
    for at in range(0, len(texts), BATCH):
        messages = [Message(role="user", content=text) for text in texts[at : at + BATCH]]
        facts_add(tenant=tenant, scopes=Scopes(user_id=user), messages=messages, actor="bench")


def wait_encoded(
    tenant: Tenant, user: str, *, progress: Callable[[int, int], None], alive: Callable[[], None], stall_seconds: float
) -> int:
    """Until every fact of the user is encoded; returns how many there are. `progress` gets ready and total.

    `alive` may raise to end the wait. Raises EncodingStuckError when nothing moves for `stall_seconds`.
    """
    seen, moved_at = -1, time.monotonic()
    while True:
        ready, failed, total = _counts(tenant, user)
        progress(ready, total)
        if ready == total:
            return total
        if failed and ready + failed == total:
            raise EncodingStuckError(f"{failed} of {total} facts could not be encoded; the admin's encodings say why")
        if ready != seen:
            seen, moved_at = ready, time.monotonic()
        elif time.monotonic() - moved_at > stall_seconds:
            raise EncodingStuckError(f"encoding stands at {ready} of {total} facts; see the worker's log")
        alive()
        time.sleep(POLL_SECONDS)


def _counts(tenant: Tenant, user: str) -> tuple[int, int, int]:
    with tenant_scope(tenant):
        facts = Fact.objects.filter(user_id=user, status=FactStatus.ACTIVE)
        states = Encoding.objects.filter(fact__in=facts)
        ready = states.filter(state=EncodingState.READY).values("fact").distinct().count()
        failed = states.filter(state=EncodingState.FAILED).values("fact").distinct().count()
        return ready, failed, facts.count()
