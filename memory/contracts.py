"""What travels to the engine as `kv_transfer_params`. Params are hostile input: parsing never raises."""

import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

KEY = re.compile(r"[0-9a-f]{64}")
DIGEST = re.compile(r"[0-9a-f]{32}")
MAX_ITEMS = 4096
MAX_TOKENS = 1 << 24


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of the prompt whose KV may be injected: `tokens` ids with this digest, held under `key`."""

    key: str
    tokens: int
    digest: str


@dataclass(frozen=True, slots=True)
class Span:
    """Tokens `[start, end)` of an encode prompt whose KV is kept under `key`."""

    key: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class InjectParams:
    """Segments stand at the prompt's start, one after the other."""

    tenant: str
    segments: tuple[Segment, ...]

    def to_params(self) -> dict[str, Any]:
        # asdict takes eight times as long, and this is on every chat's way
        segments = [{"key": s.key, "tokens": s.tokens, "digest": s.digest} for s in self.segments]
        return {"op": "inject", "tenant": self.tenant, "segments": segments}


@dataclass(frozen=True, slots=True)
class EncodeParams:
    tenant: str
    spans: tuple[Span, ...]

    def to_params(self) -> dict[str, Any]:
        return {"op": "encode", "tenant": self.tenant, "spans": [asdict(s) for s in self.spans]}


@dataclass(frozen=True, slots=True)
class DropParams:
    """Resident copies of these blobs go, whatever the disk holds."""

    keys: tuple[str, ...]

    def to_params(self) -> dict[str, Any]:
        return {"op": "drop", "keys": list(self.keys)}


Params = InjectParams | EncodeParams | DropParams


def parse_params(raw: object) -> Params | None:
    """The typed form of `kv_transfer_params`, or None for anything unknown, malformed or out of bounds."""
    if not isinstance(raw, Mapping):
        return None
    try:
        match raw.get("op"):
            case "inject":
                return InjectParams(_tenant(raw), tuple(_segment(item) for item in _items(raw, "segments")))
            case "encode":
                return EncodeParams(_tenant(raw), tuple(_span(item) for item in _items(raw, "spans")))
            case "drop":
                return DropParams(tuple(_text(key, KEY) for key in _items(raw, "keys")))
    except (ValueError, TypeError, AttributeError):
        return None
    return None


def _items(raw: Mapping[str, Any], name: str) -> list[Any]:
    items = raw.get(name)
    if not isinstance(items, list) or not 0 < len(items) <= MAX_ITEMS:
        raise ValueError(name)
    return items


def _tenant(raw: Mapping[str, Any]) -> str:
    tenant = raw.get("tenant", "")
    if not isinstance(tenant, str) or len(tenant) > 64:
        raise ValueError("tenant")
    return tenant


def _segment(item: Any) -> Segment:
    return Segment(_text(item.get("key"), KEY), _count(item.get("tokens"), 1), _text(item.get("digest"), DIGEST))


def _span(item: Any) -> Span:
    span = Span(_text(item.get("key"), KEY), _count(item.get("start"), 0), _count(item.get("end"), 1))
    if span.start >= span.end:
        raise ValueError("span")
    return span


def _text(value: Any, pattern: re.Pattern[str]) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise ValueError(value)
    return value


def _count(value: Any, least: int) -> int:
    if type(value) is not int or not least <= value <= MAX_TOKENS:
        raise ValueError(value)
    return value
