"""How the engine is now, for people who look: asked at most every few seconds, however many look."""

import time
from dataclasses import dataclass
from threading import Lock

import httpx
from django.conf import settings

from usage.engine_metrics import EngineMetrics, parse_metrics

SECONDS_TO_WAIT = 1.5
SECONDS_KEPT = 2.0


@dataclass(frozen=True, slots=True)
class EngineState:
    """`golden`: what its check of injection came to: pending, passed or failed. `trouble`: why there are no metrics."""

    golden: str = ""
    metrics: EngineMetrics | None = None
    trouble: str = ""


_lock = Lock()
_known: dict[str, tuple[float, EngineState]] = {}


def engine_state() -> EngineState:
    url = settings.ENV.engine_base_url
    with _lock:
        asked_at, state = _known.get(url, (0.0, None))
        if state is None or time.monotonic() - asked_at > SECONDS_KEPT:
            state = _ask(url)
            _known[url] = time.monotonic(), state
        return state


def _ask(url: str) -> EngineState:
    try:
        answer = httpx.get(f"{url}/metrics", timeout=SECONDS_TO_WAIT, trust_env=False)
    except httpx.HTTPError as error:
        return EngineState(trouble=f"{url} does not answer: {error or type(error).__name__}")
    if answer.status_code != 200:
        return EngineState(trouble=f"{url} answers {answer.status_code}")
    try:
        return EngineState(answer.headers.get("x-inferscale-golden", ""), parse_metrics(answer.text))
    except ValueError:
        return EngineState(trouble=f"what answers at {url} is not the engine: no metrics")
