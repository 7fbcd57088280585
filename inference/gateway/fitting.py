"""Prompt and answer have to fit the model's length: the worst facts go first."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from inference.gateway.candidates import in_prompt_order
from inference.gateway.runtime import Runtime
from inference.gateway.snapshot import Entry
from memory.prompt import ComposedPrompt, compose_prompt
from memory.prompt.block import memory_block
from memory.prompt.messages import Message

logger = logging.getLogger(__name__)
DEFAULT_ANSWER = 256
TEMPLATE_FIELDS = ("tools", "documents", "add_generation_prompt", "continue_final_message", "reasoning_effort")


@dataclass(frozen=True, slots=True)
class FittedPrompt:
    """The placed chat and its facts in prompt order. Without `composed` only the engine can render it."""

    messages: list[Message]
    entries: list[Entry]
    template_kwargs: dict[str, Any]
    composed: ComposedPrompt | None = None

    @property
    def tokens(self) -> int | None:
        return len(self.composed.token_ids) if self.composed else None


def fit_prompt(
    runtime: Runtime, body: dict[str, Any], messages: list[Message], chosen: list[Entry]
) -> FittedPrompt | None:
    """`chosen` is worst first. None when not even one fact fits."""
    room = runtime.max_model_len - answer_tokens(body, runtime.max_model_len)
    kwargs = template_fields(body)
    while chosen:
        entries = in_prompt_order(chosen)
        lines = [entry.line for entry in entries]
        try:
            prompt = compose_prompt(runtime.template, messages, lines, **kwargs)
        except Exception as error:  # templates raise what they like; the engine's own answer tells the client
            logger.info("the chat template refused a chat: %s", error)
            placed = runtime.template.place(messages, memory_block(lines))
            return FittedPrompt(placed, entries, runtime.template.date_pin.template_kwargs)
        excess = len(prompt.token_ids) - room
        if excess <= 0:
            return FittedPrompt(prompt.messages, entries, prompt.template_kwargs, prompt)
        chosen = without_worst(chosen, _sizes(entries, prompt), excess)
    return None


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


def _sizes(entries: list[Entry], prompt: ComposedPrompt) -> dict[int, int]:
    """Tokens by fact; characters stand in where the template changed the text."""
    sizes = [len(span) for span in prompt.lines] or [max(1, len(entry.line) // 4) for entry in entries]
    return {entry.number: size for entry, size in zip(entries, sizes, strict=True)}
