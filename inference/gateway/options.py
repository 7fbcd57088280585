"""What a chat request says about memory."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from facts.errors import InvalidInputError
from facts.scopes import Scopes, check_name

from inference.gateway.errors import ApiError

Mode = Literal["auto", "prompt", "off"]
Order = Literal["relevance", "random"]
SCOPES = ("user_id", "agent_id", "app_id", "run_id")
KNOWN = frozenset((*SCOPES, "top_k", "threshold", "mode", "filters", "order", "write", "session_id", "rerank"))
MAX_TOP_K = 1000


@dataclass(frozen=True, slots=True)
class MemoryOptions:
    """Whose memory, how much of it, whether its KV may be injected, and whether what is said is to be remembered.

    A fact whose cosine with the question is below `threshold` is not used (None: whatever it is). `rerank`: where
    facts have to be left out, the reranker says which, if there is one.
    A random order is for measuring: no request then finds an earlier one's facts in the prefix cache. `session_id`
    names the conversation, '' leaves that to its first messages.
    """

    scopes: Scopes
    top_k: int
    mode: Mode = "auto"
    filters: Mapping[str, Any] | None = None
    order: Order = "relevance"
    write: bool = False
    session_id: str = ""
    threshold: float | None = None
    rerank: bool = False


def parse_options(body: Mapping[str, Any], *, user_enables: bool, top_k: int) -> MemoryOptions | None:
    """None: no memory. `user_enables`: OpenAI's `user` field alone turns it on. Raises ApiError."""
    raw, user = body.get("memory"), body.get("user")
    if user is not None and not isinstance(user, str):
        raise _bad("user", "user must be a string")
    if raw is None:
        return MemoryOptions(_scopes({"user_id": user}, "user"), top_k) if user and user_enables else None
    if not isinstance(raw, Mapping):
        raise _bad("memory", 'memory must be an object such as {"user_id": "alice"}')
    if unknown := sorted(set(raw) - KNOWN):
        raise _bad(f"memory.{unknown[0]}", f"memory does not know {unknown[0]!r}; it takes {', '.join(sorted(KNOWN))}")
    mode, write, rerank = raw.get("mode") or "auto", raw.get("write", False), raw.get("rerank", False)
    if mode not in ("auto", "prompt", "off"):
        raise _bad("memory.mode", "memory.mode must be auto, prompt or off")
    for name, value in (("write", write), ("rerank", rerank)):
        if not isinstance(value, bool):
            raise _bad(f"memory.{name}", f"memory.{name} must be true or false")
    if mode == "off":
        if write:
            raise _bad("memory.write", "memory.write needs memory.mode auto or prompt")
        return None
    if write and body.get("n") not in (None, 1):
        raise _bad("n", "memory.write remembers one answer: n must be 1")
    names = {name: raw[name] for name in SCOPES if raw.get(name) is not None}
    scopes = _scopes(names or {"user_id": user or ""}, "memory")
    filters, order = _filters(raw.get("filters")), raw.get("order") or "relevance"
    if order not in ("relevance", "random"):
        raise _bad("memory.order", "memory.order must be relevance or random")
    top_k, threshold = _top_k(raw.get("top_k"), top_k), _threshold(raw.get("threshold"))
    session_id = raw.get("session_id")
    session_id = "" if session_id is None else session_id
    try:
        check_name("session_id", session_id)
    except InvalidInputError as error:
        raise _bad("memory.session_id", error.message) from error
    return MemoryOptions(
        scopes,
        top_k,
        mode=cast(Mode, mode),
        filters=filters,
        order=cast(Order, order),
        write=write,
        session_id=session_id,
        threshold=threshold,
        rerank=rerank,
    )


def _scopes(names: Mapping[str, Any], param: str) -> Scopes:
    try:
        scopes = Scopes(**names)
        _ = scopes.owner_kind  # raises when no scope is named
        return scopes
    except InvalidInputError as error:
        raise _bad(param if param == "user" else f"memory.{error.field}", error.message) from error


def _top_k(value: object, default: int) -> int:
    if value is None:
        return default
    if type(value) is not int or not 1 <= value <= MAX_TOP_K:
        raise _bad("memory.top_k", f"memory.top_k must be an integer from 1 to {MAX_TOP_K}")
    return value


def _threshold(value: object) -> float | None:
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= 1:
        raise _bad("memory.threshold", "memory.threshold must be a number from 0 to 1")
    return float(value)


def _filters(value: object) -> Mapping[str, Any] | None:
    if value is not None and not isinstance(value, Mapping):
        raise _bad("memory.filters", "memory.filters must be an object")
    return value or None


def _bad(param: str, message: str) -> ApiError:
    return ApiError(400, message, param)
