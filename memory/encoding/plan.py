"""From a fact and its context to the tokens, spans and keys of one encode request."""

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
    """`header` is None where the strategy has none before its context, `line` when only the header is encoded.

    Of the context the last `context_lines` are in `token_ids`.
    """

    token_ids: list[int]
    header: PlannedSegment | None
    line: PlannedSegment | None = None
    context_lines: int = 0


def plan_encoding(
    template: ChatTemplate,
    *,
    keys: KeySpace,
    context_lines: Sequence[str],
    line: str,
    max_tokens: int,
    has_header: bool = True,
) -> EncodingPlan:
    """Lines come from `ChatTemplate.line` and `turn_line`, the best last; the farthest are left out until `max_tokens`
    are enough.

    Raises PromptTooLong.
    """
    kept = list(context_lines)
    prompt = encode_prompt(template, kept, line, has_header=has_header)
    while len(prompt.token_ids) > max_tokens:
        if not kept:
            raise PromptTooLong(f"{len(prompt.token_ids)} tokens with the header, the model takes {max_tokens}")
        del kept[: _surplus_lines(prompt, max_tokens)]
        prompt = encode_prompt(template, kept, line, has_header=has_header)
    header = _segment(prompt.token_ids, prompt.header, keys) if has_header else None
    return EncodingPlan(prompt.token_ids, header, _segment(prompt.token_ids, prompt.line, keys), len(kept))


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
