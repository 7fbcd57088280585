"""One streamed chat, timed without parsing what need not be parsed."""

import json
from time import perf_counter
from typing import Any

import aiohttp

from inference.bench.chat import MEMORY_MODE, SERVED_MODE
from inference.bench.load.plan import LoadPlan
from inference.bench.load.sample import Sample

PATH = "/v1/chat/completions"
SHOWN_ERROR = 300


async def ask(session: aiohttp.ClientSession, plan: LoadPlan, user: str, question: str, sample: Sample) -> None:
    """Fills the sample as the answer comes; never raises but when cancelled."""
    try:
        async with session.post(PATH, json=body_of(plan, user, question)) as response:
            if response.status != 200:
                sample.error = f"{response.status}: {(await response.text())[:SHOWN_ERROR]}"
            else:
                served = response.headers.get("x-inferscale-mode", "none")
                await _read(response, sample, plan.max_tokens)
                if not sample.error and served != SERVED_MODE[plan.mode]:
                    sample.error = f"asked for mode {plan.mode}, served in mode {served}"
    except (aiohttp.ClientError, TimeoutError, OSError) as error:
        sample.error = f"{type(error).__name__}: {error}"[:SHOWN_ERROR]
    sample.ended = perf_counter()


def body_of(plan: LoadPlan, user: str, question: str) -> dict[str, Any]:
    memory = {"user_id": user, "mode": MEMORY_MODE[plan.mode], "top_k": plan.top_k, "order": plan.order}
    return {
        "model": plan.model,
        "messages": [{"role": "user", "content": question}],
        "memory": memory,
        "max_tokens": plan.max_tokens,
        "ignore_eos": True,
        "temperature": 0,
        "stream": True,
        "stream_options": {"include_usage": True},
    }


async def _read(response: aiohttp.ClientResponse, sample: Sample, max_tokens: int) -> None:
    answered = 0
    async for line in response.content:
        if line.startswith(b"data: {"):
            answered = read_event(line, sample, perf_counter()) or answered
    if not sample.error and answered != max_tokens:
        sample.error = f"the answer has {answered} tokens, not {max_tokens}"


def read_event(line: bytes, sample: Sample, now: float) -> int:
    """Notes one server-sent event; the answer's token count, where it says it, else 0."""
    if b'"choices":[]' in line:
        return int((json.loads(line[6:]).get("usage") or {}).get("completion_tokens") or 0)
    if line.startswith(b'data: {"error"'):
        sample.error = sample.error or line[6:].decode(errors="replace")[:SHOWN_ERROR].strip()
        return 0
    sample.first = sample.first or now
    if b'"role":"assistant"' not in line:  # which comes alone, together with the first token
        sample.tokens.append(now)
    return 0
