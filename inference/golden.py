"""The check that allows a vLLM to encode or to inject: KV that it kept answers as the same tokens prefilled."""

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from memory.contracts import DropParams, EncodeParams, InjectParams, Params, Segment, Span
from memory.digest import token_digest
from memory.keys import blob_key
from memory.prompt import ChatTemplate, ComposedPrompt, compose_prompt
from memory.store import BlobStore

TENANT = "golden"
TOLERANCE = 0.5  # nats; prefilling in other chunks differs by up to 0.25
BLOB_SECONDS = 60.0
FACTS = ("Ada keeps bees behind her house.", "Ada's sister Maria plays the cello.", "Maria was born in Porto.")
CHAT = [{"role": "user", "content": "Which instrument does Ada's sister play?"}]


class GoldenMismatch(Exception):
    """What the engine does is not what is expected of it."""


@dataclass(frozen=True, slots=True)
class Completion:
    """The first answer token. `cached_tokens`: of the prompt, those not computed; None when the engine does not tell.

    `accepted`: keys of the spans that an encode request keeps.
    """

    token: int | str
    logprob: float
    cached_tokens: int | None
    accepted: frozenset[str] = frozenset()


Complete = Callable[[Sequence[int], Params | None], Awaitable[Completion]]
"""Answer a prompt with one token, greedily and without sharing prefix-cache blocks with any other request."""


def golden_prompt(template: ChatTemplate) -> ComposedPrompt:
    """Raises GoldenMismatch."""
    prompt = compose_prompt(template, CHAT, [template.line(fact) for fact in FACTS])
    if len(prompt.lines) != len(FACTS):
        raise GoldenMismatch("the facts do not stand at the prompt's start")
    return prompt


@dataclass(frozen=True)
class GoldenInjection:
    """Encodes a prompt's segments where they stand, injects them there, and compares with a plain prefill."""

    complete: Complete
    fingerprint: str
    prompt: ComposedPrompt
    store: BlobStore

    async def check(self) -> None:
        """Raises GoldenMismatch, or TimeoutError when blobs do not come into the store."""
        spans, segments = self._segments()
        try:
            await self._encode(spans)
            plain = await self.complete(self.prompt.token_ids, None)
            injected = await self.complete(self.prompt.token_ids, InjectParams(TENANT, segments))
        finally:
            await self._drop([span.key for span in spans])
        planned = sum(segment.tokens for segment in segments)
        if injected.cached_tokens is not None and injected.cached_tokens < planned:
            raise GoldenMismatch(f"{injected.cached_tokens} of {planned} tokens were injected")
        if plain.token != injected.token or abs(plain.logprob - injected.logprob) > TOLERANCE:
            raise GoldenMismatch(f"injected KV answers {injected}, prefilled {plain}")

    def _segments(self) -> tuple[tuple[Span, ...], tuple[Segment, ...]]:
        owner, ids = secrets.token_hex(8), self.prompt.token_ids  # a new owner each time: no blob of an earlier run
        names = {"tenant": TENANT, "owner": owner, "fingerprint": self.fingerprint, "strategy": "golden"}
        spans, segments = [], []
        for span in (self.prompt.header, *self.prompt.lines):
            tokens = span.of(ids)
            key = blob_key(context_ids=ids[: span.start], segment_ids=tokens, **names)
            spans.append(Span(key, span.start, span.end))
            segments.append(Segment(key, len(tokens), token_digest(tokens)))
        return tuple(spans), tuple(segments)

    async def _encode(self, spans: tuple[Span, ...]) -> None:
        answer = await self.complete(self.prompt.token_ids, EncodeParams(TENANT, spans))
        if answer.accepted != {span.key for span in spans}:
            raise GoldenMismatch("the engine does not accept encode requests: is the connector on?")
        async with asyncio.timeout(BLOB_SECONDS):
            while not await asyncio.to_thread(self._stored, spans):
                await asyncio.sleep(0.05)

    def _stored(self, spans: tuple[Span, ...]) -> bool:
        return all(self.store.verify(span.key) for span in spans)

    async def _drop(self, keys: list[str]) -> None:
        await self.complete([0], DropParams(tuple(keys)))
        for key in keys:
            await asyncio.to_thread(self.store.delete, key)
