"""What the engine is started with on a GPU."""

import json
import os

import pytest

from inference.engine.server import GPU_SHARE, gpu_flags, trace_flags
from tests.object_store import environment

GIB = 1 << 30


def value(flags: list[str], name: str) -> str:
    return flags[flags.index(name) + 1]


def test_the_arena_is_taken_off_vllms_share_of_the_gpu() -> None:
    flags = gpu_flags(80 * GIB, arena_bytes=8 * GIB, cores=16)
    assert float(value(flags, "--gpu-memory-utilization")) == pytest.approx(GPU_SHARE - 0.1)


def test_an_arena_that_leaves_no_room_for_the_model_is_refused() -> None:
    with pytest.raises(ValueError, match="leaves too little"):
        gpu_flags(16 * GIB, arena_bytes=12 * GIB, cores=16)


@pytest.mark.parametrize(("cores", "servers"), [(1, "1"), (8, "2"), (64, "4")])
def test_api_servers_are_as_many_as_the_cores_carry(cores: int, servers: str) -> None:
    assert value(gpu_flags(80 * GIB, arena_bytes=GIB, cores=cores), "--api-server-count") == servers


def test_cuda_graphs_hold_whole_steps_but_no_large_ones() -> None:
    """Those of large mixed steps make logits NaN on a GPU with FlashAttention 3."""
    graphs = json.loads(value(gpu_flags(80 * GIB, arena_bytes=GIB, cores=16), "--compilation-config"))
    assert graphs["cudagraph_mode"] == "FULL"
    assert graphs["max_cudagraph_capture_size"] <= 200


def test_vllms_spans_go_to_the_collector_as_ours_do() -> None:
    with environment({"OTEL_SERVICE_NAME": "chosen"}):
        flags = trace_flags("http://collector:4318")
        protocol, service = os.environ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"], os.environ["OTEL_SERVICE_NAME"]
    assert value(flags, "--otlp-traces-endpoint") == "http://collector:4318/v1/traces"
    assert (protocol, service) == ("http/protobuf", "chosen")
