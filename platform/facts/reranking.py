"""A second look at the best facts by a reranker, a model that reads question and fact together, behind an API.

The API is `POST {url}/rerank`, as vLLM, Cohere, Jina and others have it.
"""

import logging
import math
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import httpx
from django.conf import settings

if TYPE_CHECKING:
    from facts.retrieval import Ranked

logger = logging.getLogger(__name__)

MOST_RERANKED = 100
TIMEOUT = httpx.Timeout(2.0, connect=0.5)
SECONDS_TO_PAUSE = 5.0

_paused_until = 0.0


def can_rerank() -> bool:
    """Whether a reranker is configured."""
    return bool(settings.ENV.rerank_url)


def to_rank(most: int) -> int:
    """How many facts are to be found where `most` are wanted of a reranker."""
    return max(most, MOST_RERANKED) if can_rerank() else most


def rerank(query: str, ranked: "list[Ranked]") -> "list[Ranked]":
    """The first MOST_RERANKED in the reranker's order, with its `relevance`; the others behind them as they stand.

    Without an answer all stay as they stand, and nobody is asked for a few seconds: the reranker must not hold up
    every chat.
    """
    global _paused_until
    env = settings.ENV
    if not ranked or not can_rerank() or time.monotonic() < _paused_until:
        return ranked
    best, others = ranked[:MOST_RERANKED], ranked[MOST_RERANKED:]
    asked = {"model": env.rerank_model, "query": query, "documents": [one.entry.text for one in best]}
    try:
        answer = _client(env.rerank_key).post(f"{env.rerank_url}/rerank", json=asked).raise_for_status()
        scores = _relevance(answer.json(), len(best))
    except (httpx.HTTPError, ValueError, LookupError, TypeError) as error:
        _paused_until = time.monotonic() + SECONDS_TO_PAUSE
        logger.warning("the reranker gave no order, %d facts stay as they were found: %s", len(best), error)
        return ranked
    seen = [one._replace(relevance=score) for one, score in zip(best, scores, strict=True)]
    return [*sorted(seen, key=lambda one: -(one.relevance or 0.0)), *others]


def _relevance(answer: Mapping[str, Any], count: int) -> Sequence[float]:
    """In the order in which the facts were sent. Raises ValueError, LookupError, TypeError."""
    scores = {int(one["index"]): float(one["relevance_score"]) for one in answer["results"]}
    if scores.keys() != set(range(count)) or not all(map(math.isfinite, scores.values())):
        raise ValueError(f"scores of {len(scores)} texts for {count}")
    return [scores[index] for index in range(count)]


@lru_cache(maxsize=1)
def _client(key: str) -> httpx.Client:
    """Its connections are kept from question to question."""
    return httpx.Client(timeout=TIMEOUT, headers={"Authorization": f"Bearer {key}"} if key else {})
