"""One timed chat over HTTP."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Literal

import httpx

from inference.bench.errors import BenchError
from inference.gateway.stages import read_stages

Mode = Literal["none", "prompt", "inject", "mem0"]
MODES: tuple[Mode, ...] = ("none", "prompt", "inject")
MEMORY_MODE: dict[Mode, str] = {"none": "off", "prompt": "prompt", "inject": "auto", "mem0": "off"}
SERVED_MODE: dict[Mode, str] = {"none": "none", "prompt": "prompt", "inject": "inject", "mem0": "none"}

Messages = Sequence[Mapping[str, str]]


@dataclass(frozen=True)
class TimedAnswer:
    """`ttft_ms`: from sending the request to the first token's arrival; `stages_ms`: the gateway's part of it, by step.

    Token counts are the server's own.
    """

    mode: Mode
    text: str
    ttft_ms: float
    facts: int
    prompt_tokens: int
    injected_tokens: int
    cached_tokens: int
    stages_ms: Mapping[str, float] = field(default_factory=dict)

    @property
    def prefilled_tokens(self) -> int:
        return self.prompt_tokens - self.cached_tokens


class ChatClient:
    """Streams chats of one user through the gateway."""

    def __init__(self, base_url: str, api_key: str, *, model: str, user: str) -> None:
        headers = {"Authorization": f"Bearer {api_key}"}
        self.http = httpx.Client(base_url=base_url, headers=headers, timeout=120)
        self.model, self.user = model, user

    def ask(
        self,
        question: str,
        mode: Mode,
        *,
        top_k: int,
        max_tokens: int,
        shuffled: bool = False,
        ignore_eos: bool = False,
    ) -> TimedAnswer:
        """`shuffled`: facts in a random order, so that the prefix cache of an earlier call is of no use.

        `ignore_eos`: answers have `max_tokens` whatever the model says. Raises as `chat`.
        """
        messages = [{"role": "user", "content": question}]
        order = "random" if shuffled else "relevance"
        return self.chat(messages, mode, top_k=top_k, max_tokens=max_tokens, order=order, ignore_eos=ignore_eos)

    def chat(
        self,
        messages: Messages,
        mode: Mode,
        *,
        top_k: int,
        max_tokens: int,
        order: str = "relevance",
        ignore_eos: bool = False,
        session: str = "",
        started: float | None = None,
    ) -> TimedAnswer:
        """`session` names the conversation; `started`: a `perf_counter` from when TTFT counts, if work for the question
        began before.

        Raises httpx.HTTPStatusError, and BenchError when the server did not do what the mode says.
        """
        memory = {"user_id": self.user, "mode": MEMORY_MODE[mode], "top_k": top_k, "order": order}
        body = {
            "model": self.model,
            "messages": messages,
            "memory": memory | ({"session_id": session} if session else {}),
            "max_tokens": max_tokens,
            "temperature": 0,
            "stream": True,
            "stream_options": {"include_usage": True},
            **({"ignore_eos": True} if ignore_eos else {}),
        }
        started = perf_counter() if started is None else started
        first: float | None = None
        text, usage = "", dict[str, Any]()
        with self.http.stream("POST", "/v1/chat/completions", json=body) as response:
            if response.is_error:
                response.read()
                raise httpx.HTTPStatusError(response.text, request=response.request, response=response)
            for event in _events(response):
                first = first or perf_counter()
                usage = event.get("usage") or usage
                text += "".join(choice["delta"].get("content") or "" for choice in event["choices"])
            headers = response.headers
        served = headers.get("x-inferscale-mode", "none")
        if served != SERVED_MODE[mode]:
            raise BenchError(f"asked for mode {mode}, served in mode {served}")
        return TimedAnswer(
            mode=mode,
            text=text.strip(),
            ttft_ms=((first or perf_counter()) - started) * 1000,
            facts=int(headers.get("x-inferscale-facts", 0)),
            prompt_tokens=usage["prompt_tokens"],
            injected_tokens=int(headers.get("x-inferscale-tokens-injected", 0)),
            cached_tokens=(usage.get("prompt_tokens_details") or {}).get("cached_tokens") or 0,
            stages_ms=read_stages(headers.get("server-timing", "")),
        )


def _events(response: httpx.Response) -> Iterator[dict[str, Any]]:
    for line in response.iter_lines():
        if line.startswith("data: ") and line != "data: [DONE]":
            yield json.loads(line.removeprefix("data: "))
