"""A tenant and users to measure with: made once, then found again."""

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.db.models import Count, QuerySet, Sum
from django.utils import timezone
from django.utils.text import slugify
from facts.inputs import Message
from facts.models import Encoding, EncodingState, Fact, FactStatus
from facts.scopes import Scopes
from facts.services import facts_add
from tenants.models import Tenant
from tenants.scope import tenant_scope
from tenants.services import api_key_create, tenant_create

from inference.bench.errors import BenchError

KEY_LIFE = timedelta(hours=6)
POLL_SECONDS = 0.5
BATCH = 250
SLUG_LENGTH = 64


class EncodingStuckError(BenchError):
    """Facts were not encoded in time, or failed; the message says how far it came."""


def bench_tenant(model: str, strategy: str | None = None) -> Tenant:
    """One for each model and strategy, so that no run waits for another's facts. None: new tenants' own strategy."""
    slug = slugify("-".join(["bench", model, *([strategy] if strategy else [])]))[:SLUG_LENGTH]
    return Tenant.objects.filter(slug=slug).first() or tenant_create(name=slug, slug=slug, strategy=strategy)


def run_key(tenant: Tenant, purpose: str) -> str:
    """A key for one run: never shown, and gone by itself."""
    _, raw = api_key_create(tenant=tenant, name=purpose, expires_at=timezone.now() + KEY_LIFE)
    return raw


def add_texts(tenant: Tenant, user: str, texts: Sequence[str]) -> None:
    for at in range(0, len(texts), BATCH):
        messages = [Message(role="user", content=text) for text in texts[at : at + BATCH]]
        facts_add(tenant=tenant, scopes=Scopes(user_id=user), messages=messages, actor="bench")


def add_missing(tenant: Tenant, texts: Mapping[str, Sequence[str]], progress: Callable[[int], None]) -> None:
    """Texts by user; a user who has as many facts is left alone. `progress` gets the number of users done."""
    with tenant_scope(tenant):
        counted = _facts(list(texts)).values_list("user_id").annotate(Count("pk"))
        there: dict[str, int] = dict(counted)
    for done, (user, wanted) in enumerate(texts.items(), start=1):
        if there.get(user, 0) < len(wanted):
            add_texts(tenant, user, wanted)
        progress(done)


def wait_encoded(
    tenant: Tenant,
    users: str | Sequence[str],
    *,
    progress: Callable[[int, int], None],
    alive: Callable[[], None],
    stall_seconds: float,
    poll_seconds: float = POLL_SECONDS,
) -> int:
    """Until every fact of the users is encoded; returns how many there are. `progress` gets ready and total.

    `alive` may raise to end the wait. Raises EncodingStuckError when nothing moves for `stall_seconds`.
    """
    names = [users] if isinstance(users, str) else list(users)
    seen, moved_at = -1, time.monotonic()
    while True:
        ready, failed, total = _counts(tenant, names)
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
        time.sleep(poll_seconds)


def blob_tokens(tenant: Tenant, users: Sequence[str]) -> int:
    """Tokens of the users' encoded facts."""
    with tenant_scope(tenant):
        ready = Encoding.objects.filter(fact__in=_facts(users), state=EncodingState.READY)
        return int(ready.aggregate(total=Sum("tokens"))["total"] or 0)


def _facts(users: Sequence[str]) -> "QuerySet[Fact, Any]":
    return Fact.objects.filter(user_id__in=users, status=FactStatus.ACTIVE)


def _counts(tenant: Tenant, users: Sequence[str]) -> tuple[int, int, int]:
    with tenant_scope(tenant):
        facts = _facts(users)
        states = Encoding.objects.filter(fact__in=facts)
        ready = states.filter(state=EncodingState.READY).values("fact").distinct().count()
        failed = states.filter(state=EncodingState.FAILED).values("fact").distinct().count()
        return ready, failed, facts.count()
