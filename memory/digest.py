"""Digests of token ids: cheap proof that a prompt holds the very tokens a blob was computed from."""

import hashlib
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

DIGEST_BYTES = 16
ID_BYTES = 4


def token_digest(token_ids: Sequence[int] | NDArray[np.integer]) -> str:
    """BLAKE2b-128 of the ids as little-endian int32, in hex."""
    return _digest_of(np.asarray(token_ids, dtype="<i4").tobytes())


def count_standing(stretches: Iterable[tuple[int, str]], token_ids: Sequence[int]) -> int:
    """How many stretches, given by length and digest, stand one after the other at the start of `token_ids`."""
    data = np.asarray(token_ids, dtype="<i4").tobytes()
    count = at = 0
    for tokens, digest in stretches:
        end = at + ID_BYTES * tokens
        if end > len(data) or _digest_of(data[at:end]) != digest:
            break
        count, at = count + 1, end
    return count


def _digest_of(data: bytes) -> str:
    return hashlib.blake2b(data, digest_size=DIGEST_BYTES).hexdigest()
