"""Names that keep tenants, users, models and computations apart: blob keys and cache salts."""

import hashlib
import hmac
import json
from collections.abc import Sequence
from typing import Literal

from memory.digest import token_digest

BLOB_FORMAT = 1

SaltKind = Literal["inject", "prompt", "encode", "extract"]


def blob_key(
    *,
    tenant: str,
    owner: str,
    fingerprint: str,
    strategy: str,
    context_ids: Sequence[int],
    segment_ids: Sequence[int],
    adapter: str = "",
) -> str:
    """Key of a segment's KV: SHA-256 over everything the numbers depend on, and whose they are.

    `fingerprint` covers weights, RoPE parameters and KV dtype; `strategy` is the strategy's versioned name;
    `context_ids` are all tokens before the segment in the encode prompt. Fields are JSON-framed, so no two
    different inputs share a serialisation.
    """
    fields = [BLOB_FORMAT, tenant, owner, fingerprint, adapter, strategy]
    fields += [len(context_ids), token_digest(context_ids), len(segment_ids), token_digest(segment_ids)]
    return hashlib.sha256(json.dumps(fields).encode()).hexdigest()


def cache_salt(secret: str, *, tenant: str, owner: str, kind: SaltKind, strategy: str, epoch: int) -> str:
    """vLLM's `cache_salt`: requests share prefix-cache blocks only with the same salt.

    Kinds differ so that injected and computed blocks never mix; the epoch moves when something is
    changed or erased, so that what was computed from it is out of reach at once.
    """
    message = json.dumps([tenant, owner, kind, strategy, epoch]).encode()
    return hmac.new(secret.encode(), message, hashlib.sha256).hexdigest()
