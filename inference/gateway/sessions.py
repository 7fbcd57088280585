"""Where sessions are kept: in Redis, for all API servers together. One that is lost begins anew."""

from dataclasses import dataclass
from typing import cast

import msgspec
from config.brief import ask_redis
from django.conf import settings
from facts.models import Owner
from tenants.models import Tenant

from inference.gateway.layout import Layout
from inference.gateway.options import MemoryOptions
from inference.gateway.session import Chat, SessionState, is_opening, session_key


@dataclass(frozen=True, slots=True)
class Session:
    """The session that a chat belongs to. Without a `state` it begins with this chat."""

    key: str
    state: SessionState | None

    def keep(self, layout: Layout, messages: Chat, *, epoch: int) -> None:
        """For as long as an owner counts as active: after that its blobs have left memory."""
        state = SessionState.of(layout, messages, epoch=epoch)
        if state != self.state:
            content = msgspec.json.encode(state)
            ask_redis(lambda redis: redis.set(self.key, content, ex=settings.ENV.idle_seconds), otherwise=None)


def session_of(
    tenant: Tenant, owner: Owner, options: MemoryOptions, messages: Chat, *, fingerprint: str
) -> Session | None:
    """None for a chat that keeps nothing."""
    key = session_key(tenant, owner, options, messages, fingerprint=fingerprint)
    if key is None:
        return None
    return Session(key, None if is_opening(options, messages) else _load(key))


def _load(key: str) -> SessionState | None:
    found = ask_redis(lambda redis: redis.getex(key, ex=settings.ENV.idle_seconds), otherwise=None)
    try:
        return None if found is None else msgspec.json.decode(cast(bytes, found), type=SessionState)
    except msgspec.MsgspecError:
        return None  # of another version
