"""What encodes: the serving engine over HTTP, or a vLLM of the worker's own."""

from collections.abc import Sequence
from typing import Protocol

from memory.contracts import EncodeParams


class EngineDown(Exception):
    """It cannot be asked now: not running, starting, busy, or not ours. Nothing is wrong with the request."""


class EngineAway(EngineDown):
    """Nothing listens there, so nothing is resident there either."""


class EngineBroke(Exception):
    """It failed while it worked on this request, perhaps because of it."""


class EngineRefused(Exception):
    """It will never take this request; the message is its reason."""


class EncodePort(Protocol):
    """Every call is made once; when to make it again is the tasks' decision. Blobs come into the store by themselves.

    Any of its methods raises EngineDown, EngineBroke or EngineRefused.
    """

    def max_model_len(self) -> int:
        """Tokens a prompt and its answer may have together."""

    def encode(
        self, token_ids: Sequence[int], params: EncodeParams, *, cache_salt: str, affinity: str
    ) -> frozenset[str]:
        """Keys of the spans whose blobs are kept. `affinity`: whose blobs they are, for where there is a choice."""
