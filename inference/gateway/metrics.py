"""What the gateway counts of itself, on the engine's /metrics beside vLLM's and the connector's."""

import logging
from time import perf_counter

from config.metrics import SECONDS
from prometheus_client import Counter, Gauge, Histogram

from inference.gateway.answer import Answer
from inference.gateway.plan import Plan

REQUESTS = Counter("inferscale_gateway_requests", "Requests, by what memory did, or refused.", ("mode", "status"))
TTFT = Histogram(
    "inferscale_gateway_ttft_seconds", "From a request to its answer's first bytes.", ("mode",), buckets=SECONDS
)
RETRIEVAL = Histogram("inferscale_gateway_retrieval_seconds", "Finding a chat's facts.", buckets=SECONDS)
FACTS = Counter("inferscale_gateway_facts", "Facts in prompts.")
PROMPT_TOKENS = Counter("inferscale_gateway_prompt_tokens", "Tokens of prompts.")
INJECTED_TOKENS = Counter("inferscale_gateway_injected_tokens", "Tokens of prompts that were planned to be injected.")
OUTPUT_TOKENS = Counter("inferscale_gateway_output_tokens", "Tokens of answers.")
DROPPED_RECORDS = Counter("inferscale_gateway_dropped_records", "Request records that could not be written.")
MISMATCHED_SEGMENTS = Counter(
    "inferscale_gateway_mismatched_segments", "Segments sent as text because their tokens are not those encoded."
)
IN_PROGRESS = Gauge(
    "inferscale_gateway_requests_in_progress", "Requests that are being answered.", multiprocess_mode="livesum"
)
MAY_INJECT = Gauge(
    "inferscale_gateway_may_inject", "1 once the golden check has passed, else 0.", multiprocess_mode="livemin"
)

logger = logging.getLogger(__name__)


def count_refusal(status: int) -> None:
    """Of a request that reached no engine."""
    REQUESTS.labels("refused", str(status)).inc()


def count_request(plan: Plan, answer: Answer) -> None:
    """Once a request, however it ended."""
    usage = answer.usage
    REQUESTS.labels(plan.mode, str(answer.status)).inc()
    if answer.ttft_ms is not None:
        TTFT.labels(plan.mode).observe(answer.ttft_ms / 1000)
    if plan.retrieval_ms is not None:
        RETRIEVAL.observe(plan.retrieval_ms / 1000)
    FACTS.inc(plan.facts)
    PROMPT_TOKENS.inc(usage.get("prompt_tokens") or plan.prompt_tokens or 0)
    INJECTED_TOKENS.inc(plan.tokens_injected)
    OUTPUT_TOKENS.inc(usage.get("completion_tokens") or 0)
    told = {
        "mode": plan.mode,
        "status": answer.status,
        "facts": plan.facts,
        "ttft_seconds": None if answer.ttft_ms is None else answer.ttft_ms / 1000,
        "seconds": perf_counter() - answer.started,
    }
    logger.info("%s %d", plan.mode, answer.status, extra=told)
