"""Digests of token ids: cheap proof that a prompt holds the very tokens a blob was computed from."""

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

DIGEST_BYTES = 16


def token_digest(token_ids: Sequence[int] | NDArray[np.integer]) -> str:
    """BLAKE2b-128 of the ids as little-endian int32, in hex."""
    data = np.asarray(token_ids, dtype="<i4").tobytes()
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).hexdigest()
