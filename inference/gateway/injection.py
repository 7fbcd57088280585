"""Which segments of a prompt may be injected."""

import numpy as np

from inference.gateway.fitting import FittedPrompt
from inference.gateway.runtime import Runtime
from memory.contracts import Segment
from memory.digest import token_digest


def injectable_segments(runtime: Runtime, prompt: FittedPrompt, header: Segment | None) -> tuple[Segment, ...]:
    """The longest prefix of header and facts whose KV is ready and was encoded from the prompt's own tokens.

    Without the header, or without one fact behind it, there is nothing worth injecting.
    """
    composed = prompt.composed
    if composed is None or header is None or not composed.begins_with_memory:
        return ()
    ready = [header, *(entry.segment for entry in prompt.entries)]
    ids, start = np.asarray(composed.token_ids, dtype="<i4"), 0
    segments: list[Segment] = []
    for segment in ready:
        if segment is None:
            break
        if segment.digest != token_digest(ids[start : start + segment.tokens]):
            runtime.count_mismatch(segment.key, sum(s is not None for s in ready) - len(segments))
            break
        segments.append(segment)
        start += segment.tokens
    return tuple(segments) if len(segments) > 1 else ()
