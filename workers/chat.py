"""Questions to a chat model that answers in JSON of a given schema: the engine, or any OpenAI-compatible API."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
from config.request_id import request_headers

from workers.http import AFFINITY_HEADER, reason_of, transport_errors
from workers.port import EngineBroke, EngineDown, EngineRefused

CONNECT_SECONDS = 5.0
ANSWER_SECONDS = 300.0
REFUSALS = (400, 401, 403, 404, 413, 422)

Message = Mapping[str, str]


class AnswerCut(EngineBroke):
    """The answer had not ended when its tokens were spent."""


@dataclass(frozen=True, slots=True)
class Answer:
    data: dict[str, Any]
    prompt_tokens: int
    output_tokens: int


@dataclass(frozen=True, slots=True)
class ChatModel:
    """`url` ends in /v1 as a rule. Only the engine takes, and needs, a `cache_salt`.

    Every call is made once; when to make it again is the tasks' decision.
    """

    url: str
    key: str
    model: str
    is_engine: bool

    def ask(
        self,
        messages: Sequence[Message],
        schema: Mapping[str, Any],
        *,
        name: str,
        max_tokens: int,
        temperature: float = 0.0,
        cache_salt: str = "",
    ) -> Answer:
        """Raises EngineDown, EngineBroke, EngineRefused, AnswerCut."""
        body: dict[str, Any] = {
            "model": self.model,
            "messages": list(messages),
            "max_completion_tokens": max_tokens,
            "temperature": temperature,
            "response_format": {
                "type": "json_schema",
                "json_schema": {"name": name, "schema": schema, "strict": True},
            },
        }
        if self.is_engine:
            body["cache_salt"] = cache_salt
        return _read(self._post(body))

    def _post(self, body: Mapping[str, Any]) -> dict[str, Any]:
        headers = {"authorization": f"Bearer {self.key}"} if self.key else {}
        if self.is_engine:
            headers |= {AFFINITY_HEADER: str(body["cache_salt"]), **request_headers()}
        timeout = httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS)
        client = httpx.Client(timeout=timeout, trust_env=not self.is_engine)
        with transport_errors("model", self.url), client:
            answer = client.post(f"{self.url.rstrip('/')}/chat/completions", json=body, headers=headers)
        reason = f"{answer.status_code}: {reason_of(answer)}"
        if answer.status_code in REFUSALS:
            raise EngineRefused(f"the model's API refuses the request, {reason}")
        if answer.status_code == 500:
            raise EngineBroke(f"the model failed, {reason}")
        if answer.status_code != 200:
            raise EngineDown(f"the model's API answers {reason}")
        try:
            return dict(answer.json())
        except (ValueError, TypeError) as error:
            raise EngineDown(f"what answers at {self.url} is no chat API: no JSON object") from error


def _read(answer: Mapping[str, Any]) -> Answer:
    """Schemas are enforced by those that can; here nothing is taken on trust."""
    try:
        (choice, *_) = answer["choices"]
        text, end = choice["message"]["content"], choice.get("finish_reason")
    except (KeyError, TypeError, ValueError) as error:
        raise EngineBroke("the model's answer has no message") from error
    if end == "length":
        raise AnswerCut("the model's answer did not end in time")
    try:
        data = json.loads(text)
    except (ValueError, TypeError, RecursionError) as error:
        raise EngineBroke(f"the model's answer is no JSON: {error}") from error
    if not isinstance(data, dict):
        raise EngineBroke("the model's answer is no JSON object")
    usage = answer.get("usage") or {}
    return Answer(data, int(usage.get("prompt_tokens") or 0), int(usage.get("completion_tokens") or 0))
