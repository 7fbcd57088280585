"""What a chat would use, asked of the engine's gateway, which decides it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import httpx
from django.conf import settings
from facts.models import Encoding

from frontend.engine import engine_headers, refusal, trouble

TIMEOUT = httpx.Timeout(30, connect=3)
AS_TEXT = {
    "kv": "not encoded yet",
    "behind": "behind one that is not encoded",
    "tail": "the strategy has the best facts computed",
    "joined": "joined the session after it began",
    "mode": "asked for as text",
    "golden": "the engine's golden check has not passed",
    "content": "the chat holds more than text",
    "template": "the chat template changes the memory's text",
    "header": "the user's encoding header is not ready",
    "tokens": "its KV is of other tokens, or of a fact before it",
}
LEFT_OUT = {
    "top_k": "there are enough better ones",
    "threshold": "below the least cosine",
    "length": "did not fit the model's length",
    "repeat": "says the same as another fact",
}
KINDS = {
    ("header", True): "Encoding header, injected",
    ("header", False): "Encoding header, as text",
    ("fact", True): "Facts injected",
    ("fact", False): "Facts as text",
    ("closing", False): "Closing line",
    ("system", False): "The application's prompt",
    ("history", False): "Conversation before",
    ("question", False): "Question",
    ("template", False): "Chat template",
}


class EngineAway(Exception):
    """Nobody answers, or not as the gateway does."""


class PlanRefused(Exception):
    """The gateway's reason."""


@dataclass(frozen=True, slots=True)
class Row:
    """A fact of the plan as the gateway tells it, and its encoding."""

    fact: Mapping[str, Any]
    encoding: Encoding | None
    found_by: str
    reason: str


@dataclass(frozen=True, slots=True)
class Share:
    """The tokens of all parts of the prompt that are of one kind."""

    kind: str
    label: str
    injected: bool
    parts: int
    tokens: int


def plan_of(*, messages: Sequence[Mapping[str, str]], memory: Mapping[str, Any], key: str) -> dict[str, Any]:
    """As `POST /v1/memory/plan` answers. Raises EngineAway, PlanRefused."""
    url = f"{settings.ENV.engine_base_url}/v1/memory/plan"
    body = {"messages": list(messages), "memory": dict(memory)}
    try:
        with httpx.Client(timeout=TIMEOUT, trust_env=False) as client:
            answer = client.post(url, json=body, headers=engine_headers(key))
        if answer.status_code != 200:
            refused = PlanRefused if answer.status_code < 500 else EngineAway
            raise refused(refusal(answer.content, answer.status_code))
        return dict(answer.json())
    except (httpx.HTTPError, ValueError) as error:
        raise EngineAway(trouble(error)) from error


def ids_of(plan: Mapping[str, Any]) -> list[UUID]:
    return [UUID(fact["id"]) for fact in (*plan["facts"], *plan["left_out"])]


def rows_of(facts: Sequence[Mapping[str, Any]], encodings: Mapping[UUID, Encoding], top_k: int) -> list[Row]:
    """Used or left out."""
    reasons = {**AS_TEXT, **LEFT_OUT}
    return [
        Row(fact, encodings.get(UUID(fact["id"])), found_by(fact, top_k), reasons.get(_reason(fact), ""))
        for fact in facts
    ]


def _reason(fact: Mapping[str, Any]) -> str:
    return "behind" if fact["reason"] == "kv" and fact["has_kv"] else fact["reason"] or ""


def found_by(fact: Mapping[str, Any], top_k: int) -> str:
    """Whose first `top_k` places it is among."""
    rank, word_rank = fact["scores"]["rank"], fact["scores"]["word_rank"]
    if not fact["has_vector"]:
        return "always a candidate: no vector yet"
    if rank is None:
        return "age"
    if fact["scores"]["relevance"] is not None:
        return "reranker"
    ways = [way for way, place in (("meaning", rank), ("words", word_rank)) if place is not None and place <= top_k]
    return "both" if len(ways) > 1 else "".join(ways) or "–"


def shares_of(parts: Sequence[Mapping[str, Any]]) -> list[Share]:
    """In the order in which they are first met."""
    found: dict[tuple[str, bool], list[int]] = {}
    for part in parts:
        found.setdefault((part["kind"], part["injected"]), []).append(part["tokens"])
    return [
        Share(kind, KINDS[kind, injected], injected, len(tokens), sum(tokens))
        for (kind, injected), tokens in found.items()
    ]
