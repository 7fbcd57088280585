"""A model's chat template, and the place in it where memory stands earliest."""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cached_property
from typing import Any, Literal

from memory.prompt.block import CLOSING_LINE, MEMORY_HEADER, later_block
from memory.prompt.dates import ARGUMENT, DatePin, probe_date
from memory.prompt.ids import TokenIds, token_ids_of
from memory.prompt.messages import Message, content_text, split_system
from memory.text import clean_text, fact_line

Placement = Literal["system", "user"]
MEMORY, FIRST, ANSWER, LAST = (f"\ue000{name}\ue000" for name in ("memory", "first", "answer", "last"))

# Arguments of `apply_chat_template` itself, which no client may set.
RESERVED = frozenset(
    [
        "conversation",
        "chat_template",
        "tokenize",
        "padding",
        "truncation",
        "max_length",
        "return_tensors",
        "return_dict",
        "return_assistant_tokens_mask",
        "tokenizer_kwargs",
        "processor_kwargs",
        "strftime_now",
        "messages",
    ]
)


class TemplateUnsupported(ValueError):
    """The chat template has no fixed place for memory; the message says why."""


class ChatTemplate:
    """Renders chats as vLLM does, and knows the fixed text that stands before the first fact.

    `tokenizer` is a fast Hugging Face tokenizer that nothing else configures meanwhile; `source` a Jinja template in
    place of its own. Raises TemplateUnsupported.
    """

    def __init__(self, tokenizer: Any, source: str | None = None) -> None:
        if not getattr(tokenizer, "is_fast", False):
            raise TemplateUnsupported("memory needs a fast tokenizer, which tells where in the text a token stands")
        try:
            self.source: str = tokenizer.get_chat_template(source)
        except ValueError as error:
            raise TemplateUnsupported(f"the model has no chat template: {error}") from error
        self.tokenizer = tokenizer
        self.special_tokens: tuple[str, ...] = tuple(token for token in tokenizer.get_added_vocab() if token.strip())
        self.knows_developer = "developer" in self.source
        self.date_pin = DatePin()
        self.date_pin = self._probe_date()
        self.source_is_pinned = bool(self.date_pin.prelude)
        self.source = self.date_pin.prelude + self.source
        self.placement: Placement = "system"
        self.header: str = self._probe_placement() + MEMORY_HEADER

    @cached_property
    def token_ids(self) -> TokenIds:
        """Ids of a rendered prompt."""
        return token_ids_of(self.tokenizer)

    def line(self, text: str) -> str:
        """A fact in serving format, this tokenizer's special strings neutralised."""
        return fact_line(clean_text(text, self.special_tokens))

    def turn_line(self, speaker: str, text: str) -> str:
        """A turn of a conversation as context of a fact, which no chat serves."""
        return f"{clean_text(f'{speaker}: {text}', self.special_tokens)}\n"

    def place(self, messages: Sequence[Message], block: str, *, real_date: str | None = None) -> list[Message]:
        """New messages with `block` where memory stands, the application's system text right after it."""
        texts, rest = split_system(messages, knows_developer=self.knows_developer)
        parts = [block, *([f"Today's date: {real_date}"] if real_date else []), *texts]
        if self.placement == "system":
            return [{"role": "system", "content": "\n\n".join(parts)}, *rest]
        if not rest or rest[0].get("role") != "user":
            return [{"role": "user", "content": "\n\n".join(parts)}, *rest]
        return [self._with_text(rest[0], parts), *rest[1:]]

    def join(self, message: Message, lines: Sequence[str]) -> Message:
        """A message of the conversation with facts before its text."""
        return self._with_text(message, [later_block(lines)])

    def render(self, messages: Sequence[Message], **template_kwargs: Any) -> str:
        """The prompt's text. Keywords are the template's (`tools`, `add_generation_prompt`, …)."""
        asked = {name: value for name, value in template_kwargs.items() if name not in RESERVED}
        return self._apply(messages, **{"add_generation_prompt": True, **asked, **self.date_pin.template_kwargs})

    def real_date(self, template_kwargs: Mapping[str, Any], today: date) -> str | None:
        """The date that pinning took from the prompt, to follow the facts."""
        return self.date_pin.real_date(template_kwargs.get(ARGUMENT), today)

    def _apply(self, messages: Sequence[Message], **kwargs: Any) -> str:
        chat = [_flat(message) for message in messages]
        text = self.tokenizer.apply_chat_template(chat, chat_template=self.source, tokenize=False, **kwargs)
        return str(text)

    @staticmethod
    def _with_text(message: Message, parts: list[str]) -> Message:
        text = content_text(message.get("content"))
        if text is None:
            first = {"type": "text", "text": "\n\n".join([*parts, ""])}
            return {**message, "content": [first, *message["content"]]}
        return {**message, "content": "\n\n".join([*parts, text])}

    def _probe_date(self) -> DatePin:
        chat: list[Message] = [{"role": "user", "content": FIRST}]
        try:
            return probe_date(lambda **kwargs: self._apply(chat, add_generation_prompt=True, **kwargs))
        except Exception as error:
            raise TemplateUnsupported(f"the chat template does not render a user's message: {error}") from error

    def _probe_placement(self) -> str:
        """Settle the placement; returns what is rendered before memory."""
        reasons = []
        for self.placement in ("system", "user"):
            try:
                return self._prefix()
            except Exception as error:  # templates raise whatever they like
                reasons.append(f"as {self.placement} message: {error}")
        raise TemplateUnsupported("the chat template has no fixed place for memory; " + "; ".join(reasons))

    def _prefix(self) -> str:
        """What is rendered before memory: the same in short and long chats, with and without an application prompt."""
        block = f"{MEMORY_HEADER}- {MEMORY}\n{CLOSING_LINE}"
        prefixes = set()
        for chat in _probes():
            before, found, after = self.render(self.place(chat, block)).partition(block)
            if not found:
                raise ValueError("the memory text is changed or left out")
            if FIRST in before or FIRST not in after:
                raise ValueError("memory would stand after the conversation")
            prefixes.add(before)
        if len(prefixes) != 1:
            raise ValueError("the text before memory changes with the conversation")
        return prefixes.pop()


def _probes() -> list[list[Message]]:
    system = {"role": "system", "content": ANSWER}
    short = [{"role": "user", "content": FIRST}]
    long = [*short, {"role": "assistant", "content": ANSWER}, {"role": "user", "content": LAST}]
    return [short, long, [system, *short], [system, *long]]


def _flat(message: Message) -> Message:
    """As vLLM hands it to the template: text parts joined, tool arguments as objects."""
    flat = dict(message)
    text = content_text(message.get("content"))
    if text is not None:
        flat["content"] = text
    if isinstance(calls := message.get("tool_calls"), list):
        flat["tool_calls"] = [_with_arguments(call) for call in calls]
    return flat


def _with_arguments(call: Any) -> Any:
    try:
        function = call["function"]
        return {**call, "function": {**function, "arguments": json.loads(function["arguments"] or "{}")}}
    except (KeyError, TypeError, ValueError):
        return call
