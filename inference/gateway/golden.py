"""The check that allows injection: the same tokens as vLLM's own rendering, the same answer as prefilling."""

import asyncio
import logging
import secrets
from collections.abc import Sequence
from typing import Any

from django.conf import settings

from inference.gateway.inside import ServerInside
from inference.gateway.metrics import MAY_INJECT
from inference.gateway.runtime import Runtime
from inference.golden import Completion, GoldenInjection, GoldenMismatch, golden_prompt
from memory.contracts import Params
from memory.prompt import ComposedPrompt
from memory.store import open_store

logger = logging.getLogger(__name__)
ATTEMPTS = 3


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
            MAY_INJECT.set(1)
            logger.info("golden check passed: injection is on")
            return
    runtime.golden = "failed"
    logger.error("injection is refused: memory is sent as text")


async def _check(runtime: Runtime, inside: ServerInside) -> None:
    model = str((await inside.get("/v1/models"))["data"][0]["id"])
    prompt = await asyncio.to_thread(golden_prompt, runtime.template)
    await _check_tokens(inside, model, prompt)

    async def complete(token_ids: Sequence[int], params: Params | None) -> Completion:
        return await _complete(inside, model, token_ids, params)

    store = open_store(settings.ENV.store_path, settings.ENV.store_url)
    await GoldenInjection(complete, runtime.model.blob_fingerprint, prompt, store).check()


async def _check_tokens(inside: ServerInside, model: str, prompt: ComposedPrompt) -> None:
    """vLLM's rendering has a path of its own, but not without opening its scale-out API."""
    body: dict[str, Any] = {"model": model, "messages": prompt.messages, "max_tokens": 1, "return_token_ids": True}
    if prompt.template_kwargs:
        body["chat_template_kwargs"] = prompt.template_kwargs
    answer = await inside.post("/v1/chat/completions", {**body, "cache_salt": secrets.token_hex(16)})
    if answer["prompt_token_ids"] != prompt.token_ids:
        raise GoldenMismatch("the engine reads the chat as other tokens than the gateway")


async def _complete(inside: ServerInside, model: str, token_ids: Sequence[int], params: Params | None) -> Completion:
    fields = {"max_tokens": 1, "temperature": 0, "logprobs": 1, "cache_salt": secrets.token_hex(16)}
    body: dict[str, Any] = {"model": model, "prompt": list(token_ids), **fields}
    if params is not None:
        body["kv_transfer_params"] = params.to_params()
    answer = await inside.post("/v1/completions", body)
    logprobs = answer["choices"][0]["logprobs"]
    details = answer["usage"].get("prompt_tokens_details") or {}
    accepted = (answer.get("kv_transfer_params") or {}).get("accepted") or ()
    return Completion(
        logprobs["tokens"][0], logprobs["token_logprobs"][0], details.get("cached_tokens"), frozenset(accepted)
    )
