"""What travels to the engine as `kv_transfer_params`. Params are hostile input: parsing never raises."""

import re
from base64 import b64decode, b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from struct import Struct
from typing import Any, Literal, NamedTuple, cast

KEY = re.compile(r"[0-9a-f]{64}")
KEY_BYTES = 32
RECORD = Struct("<32s16sI")
MAX_ITEMS = 4096
MAX_HELD = 16384
MAX_TOKENS = 1 << 24

Tier = Literal["gpu", "host", "disk"]
"""Where a blob lies, nearest to the model first. Without a GPU the host is nearest."""


class Segment(NamedTuple):
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
        return {"op": "inject", "tenant": self.tenant, "segments": pack_segments(self.segments)}


@dataclass(frozen=True, slots=True)
class EncodeParams:
    tenant: str
    spans: tuple[Span, ...]

    def to_params(self) -> dict[str, Any]:
        return {"op": "encode", "tenant": self.tenant, "spans": [asdict(s) for s in self.spans]}


@dataclass(frozen=True, slots=True)
class DropParams:
    """Copies of these blobs in memory are forgotten and overwritten, whatever the disk holds.

    Rows of blobs that had left to make room for others are overwritten by those others.
    """

    keys: tuple[str, ...]

    def to_params(self) -> dict[str, Any]:
        return {"op": "drop", "keys": list(self.keys)}


@dataclass(frozen=True, slots=True)
class PromoteParams:
    """These blobs are loaded up to `tier` before anybody asks."""

    tenant: str
    segments: tuple[Segment, ...]
    tier: Tier = "gpu"

    def to_params(self) -> dict[str, Any]:
        segments = pack_segments(self.segments)
        return {"op": "promote", "tenant": self.tenant, "segments": segments, "tier": self.tier}


@dataclass(frozen=True, slots=True)
class MoveParams:
    """These blobs leave every tier above `tier`. Nothing is lost: what is in memory is on disk too."""

    keys: tuple[str, ...]
    tier: Tier

    def to_params(self) -> dict[str, Any]:
        return {"op": "move", "keys": list(self.keys), "tier": self.tier}


@dataclass(frozen=True, slots=True)
class MemoryLimit:
    """Most bytes, on one rank, of a tenant's blobs in GPU and host memory; None: what every tenant's share is."""

    tenant: str
    gpu_bytes: int | None
    host_bytes: int | None


@dataclass(frozen=True, slots=True)
class LimitParams:
    """All tenants that have limits of their own; those not named have none any more."""

    limits: tuple[MemoryLimit, ...]

    def to_params(self) -> dict[str, Any]:
        return {"op": "limit", "limits": [asdict(limit) for limit in self.limits]}


@dataclass(frozen=True, slots=True)
class HeldParams:
    """Which blobs lie in memory, the last used first, at most so many of each tier: `held` of the answer's params."""

    most: int = MAX_HELD

    def to_params(self) -> dict[str, Any]:
        return {"op": "held", "most": self.most}


Params = InjectParams | EncodeParams | DropParams | PromoteParams | MoveParams | LimitParams | HeldParams


def pack_keys(keys: Iterable[str]) -> str:
    return b64encode(b"".join(map(bytes.fromhex, keys))).decode()


def unpack_keys(packed: str) -> list[str]:
    """Raises ValueError."""
    data = b64decode(packed, validate=True)
    if len(data) % KEY_BYTES:
        raise ValueError("keys")
    return [data[start : start + KEY_BYTES].hex() for start in range(0, len(data), KEY_BYTES)]


def pack_segments(segments: Sequence[Segment]) -> str:
    """Base64 of one record a segment: it is on every chat's way, and half as long as JSON objects to read and write."""
    records = (RECORD.pack(bytes.fromhex(key), bytes.fromhex(digest), tokens) for key, tokens, digest in segments)
    return b64encode(b"".join(records)).decode()


def unpack_segments(packed: object) -> tuple[Segment, ...]:
    """Raises ValueError."""
    if not isinstance(packed, str) or not 0 < len(packed) <= 2 * MAX_ITEMS * RECORD.size:
        raise ValueError("segments")
    data = b64decode(packed, validate=True)
    if len(data) % RECORD.size or not 0 < len(data) // RECORD.size <= MAX_ITEMS:
        raise ValueError("segments")
    found = tuple(Segment(key.hex(), tokens, digest.hex()) for key, digest, tokens in RECORD.iter_unpack(data))
    if not all(0 < segment.tokens <= MAX_TOKENS for segment in found):
        raise ValueError("tokens")
    return found


def parse_params(raw: object) -> Params | None:
    """The typed form of `kv_transfer_params`, or None for anything unknown, malformed or out of bounds."""
    if not isinstance(raw, Mapping):
        return None
    try:
        match raw.get("op"):
            case "inject":
                return InjectParams(_tenant(raw), unpack_segments(raw.get("segments")))
            case "encode":
                return EncodeParams(_tenant(raw), tuple(_span(item) for item in _items(raw, "spans")))
            case "drop":
                return DropParams(_keys(raw))
            case "promote":
                segments = unpack_segments(raw.get("segments"))
                return PromoteParams(_tenant(raw), segments, _tier(raw, ("gpu", "host")))
            case "move":
                return MoveParams(_keys(raw), _tier(raw, ("host", "disk")))
            case "limit":
                return LimitParams(tuple(map(_limit, _items(raw, "limits", least=0))))
            case "held":
                return HeldParams(min(_count(raw.get("most"), 1), MAX_HELD))
    except (ValueError, TypeError, AttributeError):
        return None
    return None


def _items(raw: Mapping[str, Any], name: str, *, least: int = 1) -> list[Any]:
    items = raw.get(name)
    if not isinstance(items, list) or not least <= len(items) <= MAX_ITEMS:
        raise ValueError(name)
    return items


def _keys(raw: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(_text(key, KEY) for key in _items(raw, "keys"))


def _tier(raw: Mapping[str, Any], allowed: tuple[Tier, ...]) -> Tier:
    tier = raw.get("tier", allowed[0])
    if tier not in allowed:
        raise ValueError("tier")
    return cast(Tier, tier)


def _tenant(raw: Mapping[str, Any]) -> str:
    tenant = raw.get("tenant", "")
    if not isinstance(tenant, str) or len(tenant) > 64:
        raise ValueError("tenant")
    return tenant


def _span(item: Any) -> Span:
    span = Span(_text(item.get("key"), KEY), _count(item.get("start"), 0), _count(item.get("end"), 1))
    if span.start >= span.end:
        raise ValueError("span")
    return span


def _limit(item: Any) -> MemoryLimit:
    gpu, host = (item.get(name) for name in ("gpu_bytes", "host_bytes"))
    if any(value is not None and (type(value) is not int or value < 0) for value in (gpu, host)):
        raise ValueError("limit")
    return MemoryLimit(_tenant(item), gpu, host)


def _text(value: Any, pattern: re.Pattern[str]) -> str:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise ValueError(value)
    return value


def _count(value: Any, least: int) -> int:
    if type(value) is not int or not least <= value <= MAX_TOKENS:
        raise ValueError(value)
    return value
