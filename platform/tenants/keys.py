"""The form of an API key and what is stored of it."""

import hashlib
import secrets
from uuid import UUID

from tenants.affinity import tenant_mark

KEY_PREFIX = "isk_"
SHOWN_CHARACTERS = 12


def new_key(tenant_id: UUID) -> str:
    return KEY_PREFIX + secrets.token_urlsafe(32) + tenant_mark(tenant_id)


def key_hash(raw: str) -> str:
    """A plain hash is enough: keys are 256 random bits, there is nothing to guess."""
    return hashlib.sha256(raw.encode(errors="surrogatepass")).hexdigest()
