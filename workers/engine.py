"""What workers ask of the engine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import httpx
from config.request_id import request_headers

from memory.contracts import (
    MAX_ITEMS,
    DropParams,
    EncodeParams,
    HeldParams,
    LimitParams,
    MemoryLimit,
    MoveParams,
    PromoteParams,
    Segment,
    unpack_keys,
)
from workers.http import AFFINITY_HEADER, reason_of, transport_errors
from workers.port import EngineBroke, EngineDown, EngineRefused

CONNECT_SECONDS = 2.0
ANSWER_SECONDS = 120.0
ENCODE_PRIORITY = 10  # higher numbers wait for lower ones: chats go first
REFUSALS = (400, 413, 422)


@dataclass(frozen=True, slots=True)
class EngineClient:
    """Every call is made once; when to make it again is the tasks' decision."""

    url: str
    service_key: str
    model: str

    def max_model_len(self) -> int:
        """Tokens a prompt and its answer may have together. Raises EngineDown."""
        cards = self._call("GET", "/v1/models").get("data") or [{}]
        served = {card.get("id"): card for card in cards}
        if self.model not in served:
            raise EngineDown(f"the engine serves {', '.join(map(str, served))}, not {self.model}")
        return int(served[self.model]["max_model_len"])

    def encode(
        self, token_ids: Sequence[int], params: EncodeParams, *, cache_salt: str, affinity: str
    ) -> frozenset[str]:
        """Keys of the spans that it keeps. Raises EngineDown, EngineBroke, EngineRefused."""
        fields = {"kv_transfer_params": params.to_params(), "cache_salt": cache_salt, "priority": ENCODE_PRIORITY}
        answer = self._complete(token_ids, fields, affinity)
        accepted = (answer.get("kv_transfer_params") or {}).get("accepted") or ()
        return frozenset(map(str, accepted))

    def drop(self, keys: Sequence[str]) -> None:
        """Nothing of these blobs is resident after it. Raises EngineDown, EngineBroke, EngineRefused."""
        for start in range(0, len(keys), MAX_ITEMS):
            self._order(DropParams(tuple(keys[start : start + MAX_ITEMS])))

    def promote(
        self, segments: Sequence[Segment], *, tenant: str, affinity: str, tier: Literal["gpu", "host"] = "gpu"
    ) -> None:
        """These blobs are on their way up to `tier`. Raises EngineDown, EngineBroke, EngineRefused."""
        for start in range(0, len(segments), MAX_ITEMS):
            self._order(PromoteParams(tenant, tuple(segments[start : start + MAX_ITEMS]), tier), affinity)

    def move(self, keys: Sequence[str], *, tier: Literal["host", "disk"] = "disk") -> None:
        """These blobs are in no tier above `tier`. Raises EngineDown, EngineBroke, EngineRefused."""
        for start in range(0, len(keys), MAX_ITEMS):
            self._order(MoveParams(tuple(keys[start : start + MAX_ITEMS]), tier))

    def limit(self, limits: Sequence[MemoryLimit]) -> None:
        """These tenants, and no others, have limits of their own. Raises EngineDown, EngineBroke, EngineRefused."""
        self._order(LimitParams(tuple(limits[:MAX_ITEMS])))

    def held(self) -> dict[str, list[str]]:
        """Keys of the blobs in its memory by tier, the last used first.

        Raises EngineDown, EngineBroke, EngineRefused.
        """
        answer = self._order(HeldParams()).get("kv_transfer_params") or {}
        try:
            return {str(tier): unpack_keys(packed) for tier, packed in (answer.get("held") or {}).items()}
        except (ValueError, TypeError, AttributeError) as error:
            raise EngineDown("what answers is not the engine: no keys of blobs") from error

    def metrics_page(self) -> str:
        """In Prometheus' text format. Raises EngineDown, EngineBroke, EngineRefused."""
        return self._answer("GET", "/metrics").text

    def _order(
        self, params: DropParams | PromoteParams | MoveParams | LimitParams | HeldParams, affinity: str = ""
    ) -> dict[str, Any]:
        """Carried out when the engine takes the request; its one token is of no use."""
        fields = params.to_params()
        return self._complete([0], {"kv_transfer_params": fields, "cache_salt": fields["op"]}, affinity)

    def _complete(self, token_ids: Sequence[int], fields: Mapping[str, Any], affinity: str) -> dict[str, Any]:
        body = {"model": self.model, "prompt": list(token_ids), "max_tokens": 1, "temperature": 0, **fields}
        return self._call("POST", "/v1/completions", body, affinity)

    def _call(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, affinity: str = ""
    ) -> dict[str, Any]:
        try:
            content = self._answer(method, path, body, affinity).json()
        except ValueError as error:
            raise EngineDown("what answers is not the engine: no JSON") from error
        return content if isinstance(content, dict) else {}

    def _answer(
        self, method: str, path: str, body: Mapping[str, Any] | None = None, affinity: str = ""
    ) -> httpx.Response:
        headers = {"authorization": f"Bearer {self.service_key}", AFFINITY_HEADER: affinity}
        headers |= request_headers()
        timeout = httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS)
        with transport_errors("engine", self.url):
            answer = _http().request(method, self.url + path, json=body, headers=headers, timeout=timeout)
        _check(answer)
        return answer


@lru_cache(maxsize=1)
def _http() -> httpx.Client:
    """Keeps no connections: one that died with the engine's restart would look like a failure at this request."""
    return httpx.Client(limits=httpx.Limits(max_keepalive_connections=0), trust_env=False)


def _check(answer: httpx.Response) -> None:
    if answer.status_code in REFUSALS:
        raise EngineRefused(f"{answer.status_code}: {reason_of(answer)}")
    if answer.status_code == 500:
        raise EngineBroke(f"500: {reason_of(answer)}")
    if answer.status_code != 200:
        raise EngineDown(f"the engine answers {answer.status_code}: {reason_of(answer)}")
