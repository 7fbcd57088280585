"""Who calls: an API key, sent as `Authorization: Token <key>` or `Bearer <key>`."""

from dataclasses import dataclass

from rest_framework.authentication import BaseAuthentication, get_authorization_header
from rest_framework.exceptions import AuthenticationFailed
from rest_framework.request import Request
from tenants.models import ApiKey, Tenant
from tenants.selectors import api_key_authenticate

SCHEMES = ("token", "bearer")
HOW = "Send the header: Authorization: Token <your API key>"


@dataclass(frozen=True)
class KeyHolder:
    """`request.user` of a call made with a key."""

    api_key: ApiKey

    is_authenticated = True

    @property
    def tenant(self) -> Tenant:
        return self.api_key.tenant

    @property
    def actor(self) -> str:
        """How the history names this caller: the part of the key that may be shown."""
        return f"key:{self.api_key.prefix}"


def key_holder(authorization: str) -> KeyHolder | None:
    """Who sends this header; None without one. Raises AuthenticationFailed."""
    parts = authorization.split()
    if not parts:
        return None
    if len(parts) != 2 or parts[0].lower() not in SCHEMES:
        raise AuthenticationFailed(f"The Authorization header cannot be read. {HOW}")
    api_key = api_key_authenticate(raw=parts[1])
    if api_key is None:
        raise AuthenticationFailed("The API key is unknown, expired or revoked. Use a valid key.")
    return KeyHolder(api_key)


class ApiKeyAuthentication(BaseAuthentication):
    def authenticate(self, request: Request) -> tuple[KeyHolder, ApiKey] | None:
        holder = key_holder(get_authorization_header(request).decode("latin-1"))
        return (holder, holder.api_key) if holder else None

    def authenticate_header(self, request: Request) -> str:
        """Named so that a missing key is 401 with `WWW-Authenticate`, not 403."""
        return "Token"
