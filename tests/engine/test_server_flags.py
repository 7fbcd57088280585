"""What the engine is started with on a GPU."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from tokenizers import Tokenizer, models
from transformers import PreTrainedTokenizerFast

from inference.engine.server import GPU_SHARE, choose_tokenizer, gpu_flags, trace_flags
from tests.memory.prompt.tokenizers import TOKENIZERS
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


def words() -> Any:
    """Of a kind that fastokens does not know."""
    wrapper: Any = PreTrainedTokenizerFast
    return wrapper(tokenizer_object=Tokenizer(models.WordLevel({"<unk>": 0}, unk_token="<unk>")), unk_token="<unk>")


@pytest.mark.parametrize(("make", "chosen"), [(TOKENIZERS["demo"], "1"), (words, "0")], ids=["same ids", "unknown"])
def test_vllm_tokenizes_by_fastokens_where_the_ids_are_the_same(make: Any, chosen: str, tmp_path: Path) -> None:
    make().save_pretrained(tmp_path)
    with environment({}):
        os.environ.pop("VLLM_USE_FASTOKENS", None)
        choose_tokenizer(str(tmp_path))
        assert os.environ["VLLM_USE_FASTOKENS"] == chosen


def test_the_users_choice_of_tokenizer_is_kept() -> None:
    with environment({"VLLM_USE_FASTOKENS": "0"}):
        choose_tokenizer("no such model")
        assert os.environ["VLLM_USE_FASTOKENS"] == "0"


def test_vllms_spans_go_to_the_collector_as_ours_do() -> None:
    with environment({"OTEL_SERVICE_NAME": "chosen"}):
        flags = trace_flags("http://collector:4318")
        protocol, service = os.environ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"], os.environ["OTEL_SERVICE_NAME"]
    assert value(flags, "--otlp-traces-endpoint") == "http://collector:4318/v1/traces"
    assert (protocol, service) == ("http/protobuf", "chosen")
