"""Who asks. Everything here reads the database: run it in a worker thread."""

from hmac import compare_digest

from django.conf import settings
from tenants.models import ApiKey, KeyScope
from tenants.selectors import api_key_authenticate

from inference.gateway.errors import ApiError
from inference.gateway.http import Scope, header


def bearer_key(scope: Scope) -> str:
    """The key of the Authorization header, "" without one."""
    kind, _, key = header(scope, "authorization").partition(" ")
    return key.strip() if kind.lower() in ("bearer", "token") else ""


def is_service_key(raw: str) -> bool:
    return compare_digest(raw.encode(), settings.ENGINE_SERVICE_KEY.encode())


def chat_key(raw: str) -> ApiKey:
    """The caller's key. Raises ApiError."""
    if not raw:
        raise ApiError(401, "send your API key as Authorization: Bearer <key>", code="invalid_api_key")
    api_key = api_key_authenticate(raw=raw)
    if api_key is None:
        raise ApiError(401, "the API key is unknown, revoked or expired", code="invalid_api_key")
    if KeyScope.CHAT not in api_key.scopes:
        raise ApiError(403, "the API key lacks the scope chat", code="missing_scope")
    return api_key
