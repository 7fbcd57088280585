"""A chat as an application would have it, told piece by piece as it comes."""

import json
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any

import httpx
from django.conf import settings

from frontend.engine import engine_headers, refusal, trouble
from memory.models import served_name

HEADERS = ("mode", "facts", "tokens-injected", "tokens-text", "retrieval-ms")


@dataclass(frozen=True, slots=True)
class Question:
    """`mode` as the chat API takes it; with `fresh` the facts come in a new order, so that no prefix is cached."""

    user: str
    messages: Sequence[Mapping[str, str]]
    mode: str
    max_tokens: int
    fresh: bool

    def body(self) -> dict[str, Any]:
        memory = {"user_id": self.user, "mode": self.mode, "order": "random" if self.fresh else "relevance"}
        return {
            "model": served_name(settings.ENV.model, settings.ENV.home),
            "messages": list(self.messages),
            "max_tokens": self.max_tokens,
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
            "memory": memory,
        }


@dataclass(slots=True)
class _Telling:
    """What came so far of an answer. Each event is a line of JSON, for the page's script."""

    started: float = field(default_factory=perf_counter)
    ttft_ms: float | None = None
    usage: dict[str, Any] = field(default_factory=dict)

    def read(self, line: str) -> str | None:
        if not line.startswith("data: ") or line == "data: [DONE]":
            return None
        chunk = json.loads(line.removeprefix("data: "))
        if "error" in chunk:
            return event("error", message=str(chunk["error"].get("message", "the engine broke off")))
        self.usage = chunk.get("usage") or self.usage
        text = next((choice["delta"].get("content") for choice in chunk.get("choices", ())), None)
        if not text:
            return None
        if self.ttft_ms is None:
            self.ttft_ms = (perf_counter() - self.started) * 1000
        return event("text", text=text, ttft_ms=self.ttft_ms)

    def end(self) -> str:
        total = (perf_counter() - self.started) * 1000
        prompt, output = self.usage.get("prompt_tokens"), self.usage.get("completion_tokens")
        return event("end", ttft_ms=self.ttft_ms, total_ms=total, prompt_tokens=prompt, output_tokens=output)


def event(kind: str, **values: Any) -> str:
    return json.dumps({"kind": kind, **values}) + "\n"


async def told(question: Question, key: str) -> AsyncIterator[str]:
    """Ends with the kind end, or error with what to do."""
    url = f"{settings.ENV.engine_base_url}/v1/chat/completions"
    telling = _Telling()
    try:
        async with (
            httpx.AsyncClient(timeout=httpx.Timeout(120, connect=3), trust_env=False) as client,
            client.stream("POST", url, json=question.body(), headers=engine_headers(key)) as answer,
        ):
            if answer.status_code != 200:
                yield event("error", message=refusal(await answer.aread(), answer.status_code))
                return
            yield event("start", **{name: answer.headers.get(f"x-inferscale-{name}") for name in HEADERS})
            async for line in answer.aiter_lines():
                if told_event := telling.read(line):
                    yield told_event
            yield telling.end()
    except (httpx.HTTPError, ValueError) as error:
        yield event("error", message=trouble(error))
