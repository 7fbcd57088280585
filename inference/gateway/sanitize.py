"""What a client may not say to the engine."""

from typing import Any

FORBIDDEN = ("kv_transfer_params", "ec_transfer_params", "cache_salt", "priority", "request_id", "memory")
ENGINE_HEADERS = ("x-inferscale-*", "x-vllm-*", "x-data-parallel-rank", "x-session-id", "x-request-id")


def client_body(body: dict[str, Any]) -> dict[str, Any]:
    """A copy without the engine's private fields, also where vLLM takes extra arguments."""
    kept = {name: value for name, value in body.items() if name not in FORBIDDEN}
    if isinstance(extra := kept.get("vllm_xargs"), dict):
        kept["vllm_xargs"] = {name: value for name, value in extra.items() if name not in FORBIDDEN}
    return kept


def ask_for_usage(body: dict[str, Any]) -> bool:
    """Let a stream end with its token counts; True when the client did not ask, so that they are hidden from it."""
    if body.get("stream") is not True:
        return False
    options = body.get("stream_options")
    if options is not None and not isinstance(options, dict):
        return False  # vLLM says what is wrong with it
    if options and options.get("include_usage"):
        return False
    body["stream_options"] = {**(options or {}), "include_usage": True}
    return True
