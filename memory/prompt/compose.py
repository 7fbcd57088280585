"""Serving prompts and encode prompts: tokenised once, whole, so that equal text has equal tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from itertools import accumulate
from typing import Any

from memory.prompt.block import CLOSING_LINE, MEMORY_HEADER, memory_block
from memory.prompt.messages import Message, last_user_text
from memory.prompt.template import ChatTemplate
from memory.prompt.tokens import TokenizedText, TokenSpan, tokenize

NOWHERE = TokenSpan(0, 0)
ANY_LINE = "- a\n"


@dataclass(frozen=True, slots=True)
class ComposedPrompt:
    """A chat with memory. `template_kwargs` must reach the server's template too; no spans: nothing can be injected."""

    messages: list[Message]
    token_ids: list[int]
    header: TokenSpan
    lines: tuple[TokenSpan, ...]
    question_start: int
    template_kwargs: dict[str, Any]


@dataclass(frozen=True, slots=True)
class EncodePrompt:
    """Ids up to and including the last span; what would follow is seen by none of them."""

    token_ids: list[int]
    header: TokenSpan
    context: tuple[TokenSpan, ...]
    line: TokenSpan


def compose_prompt(
    template: ChatTemplate,
    messages: Sequence[Message],
    lines: Sequence[str],
    *,
    today: date | None = None,
    **template_kwargs: Any,
) -> ComposedPrompt:
    """Put `lines` (from `ChatTemplate.line`) into the chat; without lines the chat stays as it is."""
    placed = list(messages)
    if lines:
        real_date = template.real_date(template_kwargs, today or date.today())
        placed = template.place(messages, memory_block(lines), real_date=real_date)
    text = template.render(placed, **template_kwargs)
    tokens = tokenize(template.tokenizer, text)
    header, spans = NOWHERE, list[TokenSpan]()
    if lines and text.startswith(f"{template.header}{''.join(lines)}{CLOSING_LINE}"):
        header, *spans = _line_spans(tokens, template, lines)
    question = max(0, text.rfind(last_user_text(messages)))
    kwargs = template.date_pin.template_kwargs if lines else {}
    return ComposedPrompt(placed, tokens.ids, header, tuple(spans), tokens.boundary(question), kwargs)


def encode_prompt(template: ChatTemplate, context_lines: Sequence[str], line: str) -> EncodePrompt:
    """The tokens a fact is encoded from: the encoding header, its context in serving format, the fact."""
    lines = [*context_lines, line]
    tokens = tokenize(template.tokenizer, template.header + memory_block(lines).removeprefix(MEMORY_HEADER))
    header, *spans = _line_spans(tokens, template, lines)
    return EncodePrompt(tokens.ids[: spans[-1].end], header, tuple(spans[:-1]), spans[-1])


def header_prompt(template: ChatTemplate) -> EncodePrompt:
    """The tokens an owner's header is encoded from; `line` is the header itself."""
    header = encode_prompt(template, (), ANY_LINE)
    return EncodePrompt(header.header.of(header.token_ids), header.header, (), header.header)


def _line_spans(tokens: TokenizedText, template: ChatTemplate, lines: Sequence[str]) -> tuple[TokenSpan, ...]:
    """Spans of the header and of each line, in a text that begins with them."""
    return tokens.spans([0, *accumulate(map(len, lines), initial=len(template.header))])
