"""What a client may not say to the engine."""

from typing import Any

from inference.gateway.errors import ApiError

FORBIDDEN = ("kv_transfer_params", "ec_transfer_params", "cache_salt", "priority", "request_id", "memory")
WORKER_PRIORITY = 10  # higher numbers wait for lower ones
ENGINE_HEADERS = ("x-inferscale-*", "x-vllm-*", "x-data-parallel-rank", "x-session-id", "x-request-id")


def client_body(body: dict[str, Any]) -> dict[str, Any]:
    """A copy without the engine's private fields, also where vLLM takes extra arguments."""
    kept = {name: value for name, value in body.items() if name not in FORBIDDEN}
    if isinstance(extra := kept.get("vllm_xargs"), dict):
        kept["vllm_xargs"] = {name: value for name, value in extra.items() if name not in FORBIDDEN}
    return kept


def worker_chat(body: dict[str, Any]) -> dict[str, Any]:
    """A chat of our own workers, behind all of clients' chats. Raises ApiError.

    It uses no memory and writes no KV, and its prefix is shared with nobody but those who have the same salt: without
    one it would meet other users' blocks.
    """
    if not isinstance(body.get("cache_salt"), str) or not body["cache_salt"]:
        raise ApiError(400, "a worker's chat needs a cache_salt", "cache_salt")
    if refused := [name for name in (*FORBIDDEN, "user", "vllm_xargs") if name in body and name != "cache_salt"]:
        raise ApiError(403, f"a worker's chat has no {refused[0]}", refused[0], code="missing_scope")
    return {**body, "priority": WORKER_PRIORITY}


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
