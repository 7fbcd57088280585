"""What a chat request says about memory."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, cast

from facts.errors import InvalidInputError
from facts.scopes import Scopes

from inference.gateway.errors import ApiError

Mode = Literal["auto", "prompt", "off"]
Order = Literal["relevance", "random"]
SCOPES = ("user_id", "agent_id", "app_id", "run_id")
KNOWN = frozenset((*SCOPES, "top_k", "mode", "filters", "order"))
MAX_TOP_K = 1000


@dataclass(frozen=True, slots=True)
class MemoryOptions:
    """Whose memory, how much of it, and whether its KV may be injected.

    A random order is for measuring: no request then finds an earlier one's facts in the prefix cache.
    """

    scopes: Scopes
    top_k: int
    mode: Mode = "auto"
    filters: Mapping[str, Any] | None = None
    order: Order = "relevance"


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
    mode = raw.get("mode") or "auto"
    if mode not in ("auto", "prompt", "off"):
        raise _bad("memory.mode", "memory.mode must be auto, prompt or off")
    if mode == "off":
        return None
    names = {name: raw[name] for name in SCOPES if raw.get(name) is not None}
    scopes = _scopes(names or {"user_id": user or ""}, "memory")
    filters, order = _filters(raw.get("filters")), raw.get("order") or "relevance"
    if order not in ("relevance", "random"):
        raise _bad("memory.order", "memory.order must be relevance or random")
    return MemoryOptions(scopes, _top_k(raw.get("top_k"), top_k), cast(Mode, mode), filters, cast(Order, order))


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


def _filters(value: object) -> Mapping[str, Any] | None:
    if value is not None and not isinstance(value, Mapping):
        raise _bad("memory.filters", "memory.filters must be an object")
    return value or None


def _bad(param: str, message: str) -> ApiError:
    return ApiError(400, message, param)
