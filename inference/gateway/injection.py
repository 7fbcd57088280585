"""Which segments of a prompt may be injected."""

from inference.gateway.fitting import FittedPrompt
from inference.gateway.runtime import Runtime
from memory.contracts import Segment
from memory.digest import token_digest
from memory.prompt import TokenSpan


def injectable_segments(runtime: Runtime, prompt: FittedPrompt, header: Segment | None) -> tuple[Segment, ...]:
    """The longest prefix of header and facts whose KV is ready and was encoded from the prompt's own tokens.

    Without the header, or without one fact behind it, there is nothing worth injecting.
    """
    composed = prompt.composed
    if composed is None or header is None or not composed.lines:
        return ()
    ready = [header, *(entry.segment for entry in prompt.entries)]
    segments: list[Segment] = []
    for segment, span in zip(ready, [composed.header, *composed.lines], strict=True):
        if segment is None:
            break
        if not _stands(segment, span, composed.token_ids):
            runtime.count_mismatch(segment.key, sum(s is not None for s in ready) - len(segments))
            break
        segments.append(segment)
    return tuple(segments) if len(segments) > 1 else ()


def _stands(segment: Segment, span: TokenSpan, token_ids: list[int]) -> bool:
    return segment.tokens == len(span) and segment.digest == token_digest(span.of(token_ids))
