"""`kv_transfer_params` are hostile: anything but the exact form is no params at all, and never an exception."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.contracts import (
    DropParams,
    EncodeParams,
    HeldParams,
    InjectParams,
    LimitParams,
    MemoryLimit,
    MoveParams,
    PromoteParams,
    Segment,
    Span,
    pack_keys,
    pack_segments,
    parse_params,
    unpack_keys,
)

KEY, DIGEST = "a" * 64, "b" * 32
PACKED = pack_segments([Segment(KEY, 3, DIGEST)])


@pytest.mark.parametrize(
    "params",
    [
        InjectParams("tenant", (Segment(KEY, 3, DIGEST), Segment(KEY, 1, DIGEST))),
        EncodeParams("tenant", (Span(KEY, 0, 4),)),
        DropParams((KEY,)),
        PromoteParams("tenant", (Segment(KEY, 3, DIGEST),), "host"),
        MoveParams((KEY,), "disk"),
        LimitParams((MemoryLimit("tenant", 1 << 40, None), MemoryLimit("other", None, 0))),
        LimitParams(()),
        HeldParams(5),
    ],
    ids=lambda params: type(params).__name__,
)
def test_params_survive_the_wire(params: Any) -> None:
    assert parse_params(params.to_params()) == params


@pytest.mark.parametrize(
    "raw",
    [
        None,
        [],
        "inject",
        {},
        {"op": "exec"},
        {"op": "inject"},
        {"op": "inject", "tenant": "t", "segments": []},
        {"op": "inject", "tenant": "t", "segments": [{"key": KEY, "tokens": 1, "digest": DIGEST}]},
        {"op": "inject", "tenant": "t", "segments": ""},
        {"op": "inject", "tenant": "t", "segments": "no base64!"},
        {"op": "inject", "tenant": "t", "segments": PACKED[:-4]},
        {"op": "inject", "tenant": "t", "segments": PACKED + "\n"},
        {"op": "inject", "tenant": 7, "segments": PACKED},
        {"op": "inject", "tenant": "t", "segments": pack_segments([Segment(KEY, 0, DIGEST)])},
        {"op": "inject", "tenant": "t", "segments": pack_segments([Segment(KEY, (1 << 24) + 1, DIGEST)])},
        {"op": "inject", "tenant": "t", "segments": pack_segments([Segment(KEY, 1, DIGEST)] * 5000)},
        {"op": "promote", "tenant": "t", "segments": PACKED, "tier": "disk"},
        {"op": "move", "keys": [KEY], "tier": "gpu"},
        {"op": "limit"},
        {"op": "limit", "limits": [None]},
        {"op": "limit", "limits": [{"tenant": "t", "gpu_bytes": -1, "host_bytes": None}]},
        {"op": "limit", "limits": [{"tenant": "t", "gpu_bytes": None, "host_bytes": True}]},
        {"op": "limit", "limits": [{"tenant": 7, "gpu_bytes": 1, "host_bytes": 1}]},
        {"op": "move", "keys": [KEY], "tier": ["host"]},
        {"op": "move", "keys": ["../../etc/passwd"], "tier": "host"},
        {"op": "encode", "tenant": "t", "spans": [{"key": KEY, "start": 3, "end": 3}]},
        {"op": "encode", "tenant": "t", "spans": [{"key": KEY, "start": -1, "end": 3}]},
        {"op": "held"},
        {"op": "held", "most": 0},
        {"op": "held", "most": True},
        {"op": "drop", "keys": [None]},
        {"op": "drop", "keys": KEY},
    ],
    ids=lambda raw: str(raw)[:60],
)
def test_anything_else_is_no_params(raw: object) -> None:
    assert parse_params(raw) is None


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.sampled_from([KEY, DIGEST, "inject"]),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["op", "segments", "spans", "keys", "key"]), inner),
)


@given(json_values, st.sampled_from(["inject", "encode", "drop", "promote", "move"]))
def test_parsing_never_raises(value: Any, op: str) -> None:
    parse_params(value)
    parse_params({"op": op, "tenant": "t", "segments": value, "spans": value, "keys": value, "tier": value})


def test_keys_survive_the_wire() -> None:
    assert unpack_keys(pack_keys([KEY, "0" * 64])) == [KEY, "0" * 64]
    assert unpack_keys(pack_keys([])) == []
    with pytest.raises(ValueError, match="keys"):
        unpack_keys("AAAA")
