"""The engine, asked as an application asks it: over HTTP, with a key."""

import json
from datetime import datetime, timedelta
from threading import Lock
from uuid import UUID

from config.request_id import request_headers
from django.utils import timezone
from tenants.models import KeyScope, Tenant
from tenants.selectors import api_key_authenticate
from tenants.services import api_key_create

KEY_LIFE = timedelta(hours=12)

_lock = Lock()
_keys: dict[UUID, tuple[str, datetime]] = {}


def engine_key(tenant: Tenant) -> str:
    """A key of this process' own that can chat and nothing else, and is gone by itself.

    Made when first needed, and anew when somebody revoked it. A paused tenant's does not work.
    """
    soon = timezone.now() + timedelta(minutes=5)
    with _lock:
        raw, expires_at = _keys.get(tenant.pk, ("", soon))
        is_revoked = tenant.is_active and api_key_authenticate(raw=raw) is None
        if expires_at <= soon or is_revoked:
            expires_at = timezone.now() + KEY_LIFE
            _, raw = api_key_create(
                tenant=tenant, name="dashboard", scopes=[KeyScope.CHAT], expires_at=expires_at, actor="dashboard"
            )
            _keys[tenant.pk] = raw, expires_at
        return raw


def engine_headers(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}", **request_headers()}


def refusal(body: bytes, status: int) -> str:
    """What the engine says in an answer that is none."""
    try:
        return str(json.loads(body)["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return f"The engine answers {status}."


def trouble(error: Exception) -> str:
    return f"The engine cannot be asked: {error or type(error).__name__}. Is it up?"
