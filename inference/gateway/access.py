"""Who asks. Everything here asks the database or Redis: run it in a worker thread."""

from hmac import compare_digest

from django.conf import settings
from django.utils import timezone
from facts.errors import QuotaExceededError
from facts.services import check_room
from tenants.limits import call_count, calls_per_minute
from tenants.models import ApiKey, KeyScope, Tenant
from tenants.selectors import api_key_authenticate
from usage.quotas import chat_count

from inference.gateway.errors import ApiError
from inference.gateway.http import Scope, header


def bearer_key(scope: Scope) -> str:
    """The key of the Authorization header, "" without one."""
    kind, _, key = header(scope, "authorization").partition(" ")
    return key.strip() if kind.lower() in ("bearer", "token") else ""


def is_service_key(raw: str) -> bool:
    accepted = (settings.ENGINE_SERVICE_KEY, *settings.ENGINE_SERVICE_KEYS_BEFORE)
    return any(compare_digest(raw.encode(), key.encode()) for key in accepted)


def known_key(raw: str) -> ApiKey:
    """Raises ApiError."""
    if not raw:
        raise ApiError(401, "send your API key as Authorization: Bearer <key>", code="invalid_api_key")
    api_key = api_key_authenticate(raw=raw)
    if api_key is None:
        raise ApiError(401, "the API key is unknown, revoked or expired", code="invalid_api_key")
    return api_key


def chat_key(raw: str) -> ApiKey:
    """The caller's key, this call of its counted. Raises ApiError."""
    api_key = known_key(raw)
    if KeyScope.CHAT not in api_key.scopes:
        raise ApiError(403, "the API key lacks the scope chat", code="missing_scope")
    if wait := call_count(api_key):
        message = f"the API key may make {calls_per_minute(api_key)} calls a minute; try again in {wait} s"
        raise ApiError(429, message, code="rate_limit_exceeded", retry_after=wait)
    return api_key


def check_may_write(api_key: ApiKey) -> None:
    """Whether what is said in a chat of this key's may be remembered. In the tenant's scope. Raises ApiError."""
    if KeyScope.WRITE not in api_key.scopes:
        raise ApiError(403, "the API key lacks the scope write", "memory.write", code="missing_scope")
    try:
        check_room(api_key.tenant)
    except QuotaExceededError as error:
        raise ApiError(429, error.message, "memory.write", code="insufficient_quota") from error


def count_chat(tenant: Tenant) -> None:
    """Raises ApiError when the tenant's quota is used up."""
    if used_up := chat_count(tenant=tenant, now=timezone.now()):
        message = f"the project's quota of {used_up.limit} chats a {used_up.unit} is used up"
        raise ApiError(429, message, code="insufficient_quota", retry_after=used_up.seconds)
