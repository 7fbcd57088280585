"""Prompt and answer have to fit the model's length: the worst facts go first."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from facts.retrieval import Entry

from inference.gateway.candidates import in_prompt_order
from inference.gateway.layout import Layout
from inference.gateway.runtime import Runtime
from memory.prompt import ComposedPrompt, compose_prompt
from memory.prompt.block import memory_block
from memory.prompt.messages import Message

logger = logging.getLogger(__name__)
DEFAULT_ANSWER = 256
TEMPLATE_FIELDS = ("tools", "documents", "add_generation_prompt", "continue_final_message", "reasoning_effort")


@dataclass(frozen=True, slots=True)
class FittedPrompt:
    """The placed chat and where its facts stand. Without `composed` only the engine can render it."""

    messages: list[Message]
    layout: Layout
    template_kwargs: dict[str, Any]
    composed: ComposedPrompt | None = None

    @property
    def tokens(self) -> int | None:
        return len(self.composed.token_ids) if self.composed else None


def fit_layout(runtime: Runtime, body: dict[str, Any], messages: list[Message], layout: Layout) -> FittedPrompt | None:
    """The chat with its facts where the layout says, all of them; None when they do not fit."""
    prompt = _composed(runtime, body, messages, layout)
    return prompt if prompt and prompt.tokens is not None and prompt.tokens <= room_of(runtime, body) else None


def fit_prompt(
    runtime: Runtime, body: dict[str, Any], messages: list[Message], chosen: list[Entry], *, spare: int = 0
) -> FittedPrompt | None:
    """All facts in the block, with `spare` tokens left. `chosen` is worst first. None when not even one fact fits."""
    while chosen:
        layout = Layout(tuple(in_prompt_order(chosen)))
        prompt = _composed(runtime, body, messages, layout)
        if prompt.composed is None:
            return prompt
        excess = len(prompt.composed.token_ids) + spare - room_of(runtime, body)
        if excess <= 0:
            return prompt
        chosen = without_worst(chosen, _sizes(layout.block, prompt.composed), excess)
    return None


def _composed(runtime: Runtime, body: dict[str, Any], messages: list[Message], layout: Layout) -> FittedPrompt:
    lines = [entry.line for entry in layout.block]
    chat = layout.with_joined(runtime.template, messages)
    try:
        prompt = compose_prompt(runtime.template, chat, lines, **template_fields(body))
    except Exception as error:  # templates raise what they like; the engine's own answer tells the client
        logger.info("the chat template refused a chat: %s", error)
        placed = runtime.template.place(chat, memory_block(lines))
        return FittedPrompt(placed, layout, runtime.template.date_pin.template_kwargs)
    return FittedPrompt(prompt.messages, layout, prompt.template_kwargs, prompt)


def plain_prompt(runtime: Runtime, body: dict[str, Any], messages: list[Message]) -> FittedPrompt:
    """The chat as it is."""
    return _composed(runtime, body, messages, Layout(()))


def room_of(runtime: Runtime, body: dict[str, Any]) -> int:
    """The tokens that a prompt may have."""
    return runtime.max_model_len - answer_tokens(body, runtime.max_model_len)


def without_worst(chosen: list[Entry], sizes: dict[int, int], excess: int) -> list[Entry]:
    """Drop facts from the front until `excess` tokens are gone, at least one."""
    count = 0
    while count < len(chosen) and (excess > 0 or count == 0):
        excess -= sizes[chosen[count].number]
        count += 1
    return chosen[count:]


def answer_tokens(body: dict[str, Any], max_model_len: int) -> int:
    """Room for the answer: what is asked for, else a modest share of the model's length."""
    asked = body.get("max_completion_tokens")
    asked = body.get("max_tokens") if asked is None else asked
    return asked if type(asked) is int and asked > 0 else min(DEFAULT_ANSWER, max_model_len // 4)


def template_fields(body: Mapping[str, Any]) -> dict[str, Any]:
    """What vLLM hands to the chat template."""
    fields = {name: body[name] for name in TEMPLATE_FIELDS if body.get(name) is not None}
    extra = body.get("chat_template_kwargs")
    return {**(extra if isinstance(extra, dict) else {}), **fields}


def _sizes(entries: Sequence[Entry], prompt: ComposedPrompt) -> dict[int, int]:
    """Tokens by fact; characters stand in where the template changed the text."""
    sizes = [len(span) for span in prompt.lines] or [max(1, len(entry.line) // 4) for entry in entries]
    return {entry.number: size for entry, size in zip(entries, sizes, strict=True)}
