"""The engine's own counters, from its Prometheus page."""

import httpx

COMPUTED_SECONDS = 10
PROMPT_TOKENS = "vllm:prompt_tokens_total"
CACHED_TOKENS = "vllm:prefix_cache_hits_total"


def counter(page: str, name: str) -> float:
    """Summed over its labels; 0 for one that is not there."""
    lines = (line for line in page.splitlines() if line.startswith((f"{name}{{", f"{name} ")))
    return sum(float(line.rsplit(" ", 1)[1]) for line in lines)


def computed_prompt_tokens(url: str) -> float:
    """Prompt tokens since the start that the prefix cache did not have. Raises httpx.HTTPError."""
    with httpx.Client(base_url=url, timeout=COMPUTED_SECONDS) as http:
        page = metrics_page(http)
    return counter(page, PROMPT_TOKENS) - counter(page, CACHED_TOKENS)


def metrics_page(http: httpx.Client) -> str:
    """Raises httpx.HTTPError."""
    return http.get("/metrics").raise_for_status().text
