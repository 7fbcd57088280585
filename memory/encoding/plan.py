"""From facts and their context to the tokens, spans and keys of one encode request."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from memory.contracts import Span
from memory.digest import token_digest
from memory.keys import blob_key
from memory.prompt import ChatTemplate, EncodePrompt, TokenSpan, encode_prompt, header_prompt


class PromptTooLong(ValueError):
    """The line does not fit the model even without context."""


@dataclass(frozen=True, slots=True)
class KeySpace:
    """Whose blobs, of which model (`model_fingerprint`) and strategy (its versioned name)."""

    tenant: str
    owner: str
    fingerprint: str
    strategy: str


@dataclass(frozen=True, slots=True)
class PlannedSegment:
    """Tokens `[start, end)` of the encode prompt, to be kept under `key`."""

    key: str
    start: int
    end: int
    digest: str

    @property
    def tokens(self) -> int:
        return self.end - self.start

    @property
    def span(self) -> Span:
        return Span(self.key, self.start, self.end)


@dataclass(frozen=True, slots=True)
class EncodingPlan:
    """Of the context the last `context_lines` are in `token_ids`; `lines` is empty when only the header is encoded.

    Each line is encoded behind all that stands before it: header, context, the lines before. `header` is None where
    the strategy has none before its context.
    """

    token_ids: list[int]
    header: PlannedSegment | None
    lines: tuple[PlannedSegment, ...] = ()
    context_lines: int = 0


def plan_encoding(
    template: ChatTemplate,
    *,
    keys: KeySpace,
    context_lines: Sequence[str],
    lines: Sequence[str],
    max_tokens: int,
    pass_tokens: int | None = None,
    has_header: bool = True,
) -> EncodingPlan:
    """Lines come from `ChatTemplate.line`, in a context also from `turn_line`: context, the best last, and at least one
    line to encode.

    The first line is always encoded, the farthest context left out until `max_tokens` are enough for it. Lines behind
    it are encoded in the same pass as long as it has no more than `pass_tokens`. Raises PromptTooLong.
    """
    context, taken = list(context_lines), list(lines)
    shared = min(max_tokens, max_tokens if pass_tokens is None else pass_tokens)
    prompt = encode_prompt(template, context, taken, has_header=has_header)
    while len(prompt.token_ids) > (max_tokens if len(taken) == 1 else shared):
        if len(taken) > 1:
            del taken[max(1, sum(span.end <= shared for span in prompt.lines)) :]
        elif context:
            del context[: _surplus_lines(prompt, max_tokens)]
        else:
            raise PromptTooLong(f"{len(prompt.token_ids)} tokens with the header, the model takes {max_tokens}")
        prompt = encode_prompt(template, context, taken, has_header=has_header)
    header = _segment(prompt.token_ids, prompt.header, keys) if has_header else None
    segments = tuple(_segment(prompt.token_ids, span, keys) for span in prompt.lines)
    return EncodingPlan(prompt.token_ids, header, segments, len(context))


def plan_header(template: ChatTemplate, *, keys: KeySpace) -> EncodingPlan:
    """The request that encodes an owner's header alone."""
    prompt = header_prompt(template)
    return EncodingPlan(prompt.token_ids, _segment(prompt.token_ids, prompt.header, keys))


def _surplus_lines(prompt: EncodePrompt, max_tokens: int) -> int:
    """How many of the farthest lines hold the surplus; one more may be needed where lines share tokens."""
    surplus = len(prompt.token_ids) - max_tokens
    freed = list(accumulate(map(len, prompt.context)))
    return next((count for count, tokens in enumerate(freed, 1) if tokens >= surplus), len(freed))


def _segment(token_ids: list[int], span: TokenSpan, keys: KeySpace) -> PlannedSegment:
    ids = span.of(token_ids)
    key = blob_key(
        tenant=keys.tenant,
        owner=keys.owner,
        fingerprint=keys.fingerprint,
        strategy=keys.strategy,
        context_ids=token_ids[: span.start],
        segment_ids=ids,
    )
    return PlannedSegment(key, span.start, span.end, token_digest(ids))
