"""Which segments of a prompt may be injected."""

from itertools import takewhile

from inference.gateway.fitting import FittedPrompt
from inference.gateway.runtime import Runtime
from memory.contracts import Segment
from memory.digest import count_standing


def injectable_segments(
    runtime: Runtime, prompt: FittedPrompt, header: Segment | None, *, text_tail: int = 0
) -> tuple[Segment, ...]:
    """The longest prefix of header and facts whose KV is ready and was encoded from the prompt's own tokens.

    The last `text_tail` facts, the best, are left to be computed, and so see all facts before them. Without the
    header, or without one fact behind it, there is nothing worth injecting.
    """
    composed = prompt.composed
    if composed is None or header is None or not composed.begins_with_memory:
        return ()
    facts = prompt.entries[: max(0, len(prompt.entries) - text_tail)]
    entries = [header, *(entry.segment for entry in facts)]
    ready = [segment for segment in takewhile(lambda segment: segment is not None, entries) if segment]
    count = count_standing(((segment.tokens, segment.digest) for segment in ready), composed.token_ids)
    if count < len(ready):
        runtime.count_mismatch(ready[count].key, sum(s is not None for s in entries) - count)
    return tuple(ready[:count]) if count > 1 else ()
