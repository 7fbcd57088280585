"""Which segments of a prompt may be injected, and why no more of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Literal

from inference.gateway.fitting import FittedPrompt
from inference.gateway.options import MemoryOptions
from inference.gateway.runtime import Runtime
from memory.contracts import Segment
from memory.digest import count_standing
from memory.prompt.messages import is_text_only

Stop = Literal["mode", "golden", "content", "template", "header", "tokens"]
"""Asked for as text; the golden check has not passed; pictures or sounds; the template changed the memory's text or
refused the chat; the header has no KV; other tokens than those encoded. Else it is the facts: no KV, or the tail."""


@dataclass(frozen=True, slots=True)
class Injection:
    """`segments`: the header and the facts behind it, none or at least two; `stop`: what kept others out, if anything
    but the facts themselves did. `mismatched`: how many segments have KV of other tokens or stand behind such a one,
    whose key is `mismatched_key`.
    """

    segments: tuple[Segment, ...] = ()
    stop: Stop | None = None
    mismatched: int = 0
    mismatched_key: str = ""

    @property
    def facts(self) -> int:
        return max(0, len(self.segments) - 1)

    @property
    def tokens(self) -> int:
        return sum(segment.tokens for segment in self.segments)


def plan_injection(
    runtime: Runtime,
    options: MemoryOptions,
    messages: Sequence[Mapping[str, Any]],
    prompt: FittedPrompt,
    header: Segment | None,
    *,
    text_tail: int = 0,
) -> Injection:
    """The longest prefix of header and facts whose KV is ready and was encoded from the prompt's own tokens.

    The last `text_tail` facts, the best, are left to be computed, and so see all facts before them. Without the
    header, or without one fact behind it, there is nothing worth injecting.
    """
    if options.mode != "auto":
        return Injection(stop="mode")
    if not runtime.may_inject:
        return Injection(stop="golden")
    if not is_text_only(messages):
        return Injection(stop="content")
    composed = prompt.composed
    if composed is None or not composed.begins_with_memory:
        return Injection(stop="template")
    if header is None:
        return Injection(stop="header")
    block = prompt.layout.block
    facts = block[: max(0, len(block) - text_tail)]
    ready = [header, *(entry.segment for entry in takewhile(lambda entry: entry.segment, facts) if entry.segment)]
    count = count_standing(((segment.tokens, segment.digest) for segment in ready), composed.token_ids)
    segments = tuple(ready[:count]) if count > 1 else ()
    if count == len(ready):
        return Injection(segments)
    encoded = 1 + sum(entry.segment is not None for entry in facts)
    return Injection(segments, "tokens", mismatched=encoded - count, mismatched_key=ready[count].key)
