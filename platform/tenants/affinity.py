"""Which of several engines serves an owner of memories: always the same, as long as it runs.

A proxy that knows nothing but the request chooses it, so keys end in a mark of their tenant. Nothing is decided by it:
any engine may serve anybody, from the database and the store, only not at once from its own memory.
"""

import hashlib
from uuid import UUID

MARK_CHARACTERS = 8


def tenant_mark(tenant_id: UUID | str) -> str:
    """The end of every key of the tenant; says nothing but that two keys are of one tenant."""
    return hashlib.sha256(f"mark/{tenant_id}".encode()).hexdigest()[:MARK_CHARACTERS]


def owner_affinity(*, tenant_id: UUID | str, kind: str, name: str) -> str:
    """What the proxy makes of a chat with the owner's memory: 64 hexadecimal digits."""
    return hashlib.sha256(f"{tenant_mark(tenant_id)}/{kind}/{name}".encode()).hexdigest()
