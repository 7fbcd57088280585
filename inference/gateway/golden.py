"""The check that allows injection: the same tokens as vLLM's own rendering, the same answer as prefilling."""

import asyncio
import logging
import secrets
from dataclasses import dataclass
from typing import Any

from django.conf import settings

from inference.gateway.inside import ServerInside
from inference.gateway.runtime import Runtime
from memory.contracts import DropParams, EncodeParams, InjectParams, Segment, Span
from memory.digest import token_digest
from memory.keys import blob_key
from memory.prompt import ComposedPrompt, compose_prompt
from memory.store import BlobStore

logger = logging.getLogger(__name__)
TENANT = "golden"
TOLERANCE = 0.5  # nats; prefilling in other chunks differs by up to 0.25
BLOB_SECONDS = 60.0
ATTEMPTS = 3
FACTS = ("Ada keeps bees behind her house.", "Ada's sister Maria plays the cello.", "Maria was born in Porto.")
CHAT = [{"role": "user", "content": "Which instrument does Ada's sister play?"}]


class GoldenMismatch(Exception):
    """What the engine does is not what the gateway expects."""


async def golden_check(runtime: Runtime, inside: ServerInside) -> None:
    """Sets `runtime.golden`; never raises."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            await _check(runtime, inside)
        except Exception as error:
            logger.exception("golden check failed (attempt %d of %d): %s", attempt, ATTEMPTS, error)
            await asyncio.sleep(attempt)
        else:
            runtime.golden = "passed"
            logger.info("golden check passed: injection is on")
            return
    runtime.golden = "failed"
    logger.error("injection is refused: memory is sent as text")


async def _check(runtime: Runtime, inside: ServerInside) -> None:
    model = str((await inside.get("/v1/models"))["data"][0]["id"])
    lines = [runtime.template.line(fact) for fact in FACTS]
    prompt = await asyncio.to_thread(compose_prompt, runtime.template, CHAT, lines)
    if len(prompt.lines) != len(lines):
        raise GoldenMismatch("the facts do not stand at the prompt's start")
    await _check_tokens(inside, model, prompt)
    await GoldenInjection(
        inside, model, runtime.model.blob_fingerprint, prompt, BlobStore(settings.ENV.store_path)
    ).check()


async def _check_tokens(inside: ServerInside, model: str, prompt: ComposedPrompt) -> None:
    """vLLM's rendering has a path of its own, but not without opening its scale-out API."""
    body: dict[str, Any] = {"model": model, "messages": prompt.messages, "max_tokens": 1, "return_token_ids": True}
    if prompt.template_kwargs:
        body["chat_template_kwargs"] = prompt.template_kwargs
    answer = await inside.post("/v1/chat/completions", {**body, "cache_salt": secrets.token_hex(16)})
    if answer["prompt_token_ids"] != prompt.token_ids:
        raise GoldenMismatch("the engine reads the chat as other tokens than the gateway")


@dataclass(frozen=True)
class GoldenInjection:
    """Encodes a prompt's segments where they stand, injects them there, and compares with a plain prefill."""

    inside: ServerInside
    model: str
    fingerprint: str
    prompt: ComposedPrompt
    store: BlobStore

    async def check(self) -> None:
        spans, segments = self._segments()
        try:
            await self._encode(spans)
            plain, _ = await self._answer(None)
            injected, cached = await self._answer(InjectParams(TENANT, segments).to_params())
        finally:
            await self._drop([span.key for span in spans])
        planned = sum(segment.tokens for segment in segments)
        if cached is not None and cached < planned:
            raise GoldenMismatch(f"{cached} of {planned} tokens were injected")
        if plain[0] != injected[0] or abs(plain[1] - injected[1]) > TOLERANCE:
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
        body = self._body(EncodeParams(TENANT, spans).to_params())
        answer = await self.inside.post("/v1/completions", body)
        accepted = set((answer.get("kv_transfer_params") or {}).get("accepted", ()))
        if accepted != {span.key for span in spans}:
            raise GoldenMismatch("the engine does not accept encode requests: is the connector on?")
        async with asyncio.timeout(BLOB_SECONDS):
            while not await asyncio.to_thread(self._stored, spans):
                await asyncio.sleep(0.05)

    def _stored(self, spans: tuple[Span, ...]) -> bool:
        return all(self.store.verify(span.key) for span in spans)

    async def _answer(self, params: dict[str, Any] | None) -> tuple[tuple[str, float], int | None]:
        """The first answer token with its log-probability, and how many prompt tokens were not computed."""
        answer = await self.inside.post("/v1/completions", self._body(params))
        logprobs = answer["choices"][0]["logprobs"]
        details = answer["usage"].get("prompt_tokens_details") or {}
        return (logprobs["tokens"][0], logprobs["token_logprobs"][0]), details.get("cached_tokens")

    async def _drop(self, keys: list[str]) -> None:
        await self.inside.post("/v1/completions", {**self._body(DropParams(tuple(keys)).to_params()), "prompt": [0]})
        for key in keys:
            await asyncio.to_thread(self.store.delete, key)

    def _body(self, params: dict[str, Any] | None) -> dict[str, Any]:
        fields = {"max_tokens": 1, "temperature": 0, "logprobs": 1, "cache_salt": secrets.token_hex(16)}
        body = {"model": self.model, "prompt": self.prompt.token_ids, **fields}
        return {**body, "kv_transfer_params": params} if params else body
