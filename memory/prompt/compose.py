"""Serving prompts and encode prompts: tokenised once, whole, so that equal text has equal tokens."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from itertools import accumulate
from typing import Any

from memory.prompt.block import CLOSING_LINE, memory_block
from memory.prompt.messages import Message, last_user_index, last_user_text, split_system
from memory.prompt.pieces import Piece, cut_prompt
from memory.prompt.template import ChatTemplate
from memory.prompt.tokens import TokenizedText, TokenSpan, tokenize

NOWHERE = TokenSpan(0, 0)
ANY_LINE = "- a\n"


@dataclass(frozen=True)
class ComposedPrompt:
    """A chat with memory. `template_kwargs` must reach the server's template too.

    `begins_with_memory`: the text begins with header, lines and closing line; if not, nothing can be injected. Places
    of tokens in the text take as long to find as the tokens themselves, so they are found when somebody asks.
    """

    messages: list[Message]
    token_ids: list[int]
    template_kwargs: dict[str, Any]
    begins_with_memory: bool
    _text: str
    _template: ChatTemplate
    _lines: Sequence[str]
    _chat: Sequence[Message]

    @property
    def header(self) -> TokenSpan:
        return self._spans[0] if self._spans else NOWHERE

    @property
    def lines(self) -> tuple[TokenSpan, ...]:
        return self._spans[1:]

    @property
    def question_start(self) -> int:
        return self._tokens.boundary(max(0, self._text.rfind(last_user_text(self._chat))))

    @property
    def pieces(self) -> list[Piece]:
        """The whole prompt, part by part; all in one where it does not begin with the memory that it has."""
        block = [self._template.header, *self._lines, CLOSING_LINE] if self.begins_with_memory else []
        if self._lines and not block:
            return [Piece("template", self._text, len(self.token_ids))]
        texts, rest = split_system(self._chat, knows_developer=self._template.knows_developer)
        cuts = cut_prompt(
            self._text,
            block=block,
            instructions=texts,
            question=last_user_text(self._chat),
            has_history=bool(last_user_index(rest)),
        )
        spans = self._tokens.spans([0, *accumulate(len(text) for _, text in cuts)])
        return [Piece(kind, text, len(span)) for (kind, text), span in zip(cuts, spans, strict=True)]

    @cached_property
    def _spans(self) -> tuple[TokenSpan, ...]:
        return _line_spans(self._tokens, self._template.header, self._lines) if self.begins_with_memory else ()

    @cached_property
    def _tokens(self) -> TokenizedText:
        return tokenize(self._template.tokenizer, self._text)


@dataclass(frozen=True, slots=True)
class EncodePrompt:
    """Ids up to and including the last span; what would follow is seen by none of them."""

    token_ids: list[int]
    header: TokenSpan
    context: tuple[TokenSpan, ...] = ()
    lines: tuple[TokenSpan, ...] = ()


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
    return ComposedPrompt(
        messages=placed,
        token_ids=template.token_ids(text),
        template_kwargs=template.date_pin.template_kwargs if lines else {},
        begins_with_memory=bool(lines) and text.startswith(f"{template.header}{''.join(lines)}{CLOSING_LINE}"),
        _text=text,
        _template=template,
        _lines=tuple(lines),
        _chat=messages,
    )


def encode_prompt(
    template: ChatTemplate, context_lines: Sequence[str], lines: Sequence[str], *, has_header: bool = True
) -> EncodePrompt:
    """The tokens facts are encoded from: the encoding header where there is one, context, at least one fact."""
    block, start = [*context_lines, *lines], template.header if has_header else ""
    tokens = tokenize(template.tokenizer, f"{start}{''.join(block)}{CLOSING_LINE}")
    header, *spans = _line_spans(tokens, start, block)
    count = len(context_lines)
    return EncodePrompt(tokens.ids[: spans[-1].end], header, tuple(spans[:count]), tuple(spans[count:]))


def header_prompt(template: ChatTemplate) -> EncodePrompt:
    """The tokens an owner's header is encoded from."""
    prompt = encode_prompt(template, (), [ANY_LINE])
    return EncodePrompt(prompt.header.of(prompt.token_ids), prompt.header)


def _line_spans(tokens: TokenizedText, header: str, lines: Sequence[str]) -> tuple[TokenSpan, ...]:
    """Spans of the header and of each line, in a text that begins with them."""
    return tokens.spans([0, *accumulate(map(len, lines), initial=len(header))])
