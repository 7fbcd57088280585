"""What workers ask of the engine."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import httpx

from memory.contracts import MAX_ITEMS, DropParams, EncodeParams, MoveParams, PromoteParams, Segment
from workers.http import reason_of, transport_errors
from workers.metrics import EngineMetrics, parse_metrics
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

    def encode(self, token_ids: Sequence[int], params: EncodeParams, *, cache_salt: str) -> frozenset[str]:
        """Keys of the spans that it keeps. Raises EngineDown, EngineBroke, EngineRefused."""
        fields = {"kv_transfer_params": params.to_params(), "cache_salt": cache_salt, "priority": ENCODE_PRIORITY}
        answer = self._complete(token_ids, fields)
        accepted = (answer.get("kv_transfer_params") or {}).get("accepted") or ()
        return frozenset(map(str, accepted))

    def drop(self, keys: Sequence[str]) -> None:
        """Nothing of these blobs is resident after it. Raises EngineDown, EngineBroke, EngineRefused."""
        for start in range(0, len(keys), MAX_ITEMS):
            self._order(DropParams(tuple(keys[start : start + MAX_ITEMS])))

    def promote(self, segments: Sequence[Segment], *, tenant: str, tier: Literal["gpu", "host"] = "gpu") -> None:
        """These blobs are on their way up to `tier`. Raises EngineDown, EngineBroke, EngineRefused."""
        for start in range(0, len(segments), MAX_ITEMS):
            self._order(PromoteParams(tenant, tuple(segments[start : start + MAX_ITEMS]), tier))

    def move(self, keys: Sequence[str], *, tier: Literal["host", "disk"] = "disk") -> None:
        """These blobs are in no tier above `tier`. Raises EngineDown, EngineBroke, EngineRefused."""
        for start in range(0, len(keys), MAX_ITEMS):
            self._order(MoveParams(tuple(keys[start : start + MAX_ITEMS]), tier))

    def metrics(self) -> EngineMetrics:
        """What the connector reported last. Raises EngineDown, EngineBroke, EngineRefused."""
        try:
            return parse_metrics(self._answer("GET", "/metrics").text)
        except ValueError as error:
            raise EngineDown("what answers is not the engine: no metrics") from error

    def _order(self, params: DropParams | PromoteParams | MoveParams) -> None:
        """Carried out when the engine takes the request; its one token is of no use."""
        fields = params.to_params()
        self._complete([0], {"kv_transfer_params": fields, "cache_salt": fields["op"]})

    def _complete(self, token_ids: Sequence[int], fields: Mapping[str, Any]) -> dict[str, Any]:
        body = {"model": self.model, "prompt": list(token_ids), "max_tokens": 1, "temperature": 0, **fields}
        return self._call("POST", "/v1/completions", body)

    def _call(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        try:
            content = self._answer(method, path, body).json()
        except ValueError as error:
            raise EngineDown("what answers is not the engine: no JSON") from error
        return content if isinstance(content, dict) else {}

    def _answer(self, method: str, path: str, body: Mapping[str, Any] | None = None) -> httpx.Response:
        headers = {"authorization": f"Bearer {self.service_key}"}
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
