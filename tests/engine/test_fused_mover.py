"""On a GPU: one kernel moves what the general path moves, element for element."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from inference.engine.metadata import EncodePlan, InjectPlan
from inference.engine.mover import GeneralMover
from inference.engine.server import kv_transfer

pytestmark = [
    pytest.mark.engine,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]

ROWS = 400
FAR = 4000
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
TINY: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "torch_dtype": "bfloat16",
    "hidden_act": "silu",
    "hidden_size": 512,
    "intermediate_size": 1024,
    "num_hidden_layers": 6,
    "num_attention_heads": 8,
    "num_key_value_heads": 2,
    "head_dim": 64,
    "max_position_embeddings": 32768,
    "rope_theta": 500000.0,
    "rms_norm_eps": 1e-5,
    "vocab_size": 4096,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
INTERLEAVED = {
    "architectures": ["GlmForCausalLM"],
    "model_type": "glm",
    "partial_rotary_factor": 0.5,
    "pad_token_id": 0,
}
ODD_HEADS = {"head_dim": 96, "hidden_size": 768, "num_key_value_heads": 4, "torch_dtype": "float16"}

CASES: dict[str, tuple[dict[str, Any], dict[str, Any], str]] = {
    "llama 3 scaling": ({"rope_scaling": LLAMA3}, {}, "auto"),
    "fp8 rows": ({"rope_scaling": LLAMA3}, {}, "fp8"),
    "fp8 cache": ({"rope_scaling": LLAMA3}, {"kv_cache_dtype": "fp8"}, "auto"),
    "fp16, heads of 96": (ODD_HEADS, {"dtype": "float16"}, "auto"),
    "interleaved, half of each head": (INTERLEAVED, {}, "auto"),
    "blocks of 128": ({}, {"block_size": 128}, "auto"),
}


@pytest.fixture(params=list(CASES))
def worker(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """The worker half of an engine in this process, with random weights."""
    monkeypatch.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
    from vllm import LLM
    from vllm.config import KVTransferConfig
    from vllm.distributed import cleanup_dist_env_and_memory
    from vllm.distributed.kv_transfer import get_kv_transfer_group
    from vllm.model_executor.layers.rotary_embedding import _ROPE_DICT

    shape, arguments, row_dtype = CASES[request.param]
    (tmp_path / "config.json").write_text(json.dumps({**TINY, **shape}))
    sizes = {"host_bytes": 64 << 20, "gpu_bytes": 64 << 20, "row_dtype": row_dtype, "fingerprint": "f"}
    transfer = KVTransferConfig(**kv_transfer({"store": str(tmp_path / "blobs"), **sizes}))
    engine: dict[str, Any] = {"load_format": "dummy", "skip_tokenizer_init": True, "enforce_eager": True}
    engine |= {
        "gpu_memory_utilization": 0.1,
        "kv_cache_memory_bytes": 1 << 30,
        "max_model_len": 4096,
        "kv_transfer_config": transfer,
        **arguments,
    }
    llm = LLM(str(tmp_path), **engine)
    connector: Any = get_kv_transfer_group()
    yield connector._worker
    llm.llm_engine.engine_core.shutdown()
    cleanup_dist_env_and_memory()
    _ROPE_DICT.clear()


def fill(worker: Any) -> None:
    """Random values in the first rows of the arena."""
    layout, device = worker.near.layout, worker.mover.cache.device
    generator = torch.Generator().manual_seed(1)

    def values(shape: Any) -> torch.Tensor:
        drawn = torch.randn(ROWS, shape.kv_heads, shape.head_dim, generator=generator)
        return drawn.to(device, layout.value_dtype)

    worker.near.rows[:ROWS] = layout.pack([(values(shape), values(shape)) for shape in layout.layers])


def plans_for(cache: Any) -> list[InjectPlan]:
    """Three requests in scattered blocks, one from the middle of a block on, one of a single token."""
    rng = np.random.default_rng(0)
    blocks = rng.permutation(np.arange(1, min(len(cache.layers[0].blocks), 500))).tolist()
    plans = []
    for number, (start, count) in enumerate([(0, 300), (37, 100), (5, 1)]):
        ids = tuple(blocks[number * 30 : number * 30 + 30] for _ in cache.block_sizes)
        rows = rng.permutation(ROWS)[:count].astype(np.int32)
        plans.append(InjectPlan(rows, rng.integers(-FAR, FAR, count).astype(np.int32), start, ids))
    return plans


def test_the_kernels_give_what_the_general_path_gives(worker: Any) -> None:
    fused = worker.mover
    assert type(fused).__name__ == "FusedMover"
    general = GeneralMover(fused.cache, worker.near, fused.rotation)
    fill(worker)
    plans = plans_for(fused.cache)
    found = []
    for mover in (general, fused):
        for paged in fused.cache.layers:
            paged.blocks.zero_()
        mover.inject(plans)
        found.append([fused.cache.read(p.start, p.start + p.tokens, p.block_ids) for p in plans])
        written = [int((paged.blocks.view(torch.uint8) != 0).sum()) for paged in fused.cache.layers]
        assert max(written) <= sum(plan.tokens for plan in plans) * 2 * fused.cache.shapes[0].elements * 2
    keys = differ = 0
    for by_layer, expected in zip(found[1], found[0], strict=True):
        for (key, value), (key_expected, value_expected) in zip(by_layer, expected, strict=True):
            assert torch.equal(value, value_expected)
            keys, differ = keys + key.numel(), differ + int((key != key_expected).sum())
            torch.testing.assert_close(key.float(), key_expected.float(), rtol=0.07, atol=1e-3)
    assert differ < keys / 1000  # the same sum rounded once more or less

    asked = [EncodePlan("k", "d", p.start, p.start + p.tokens, p.block_ids, None, None) for p in plans]
    assert torch.equal(fused.read(asked), general.read(asked))


def test_rows_come_up_from_pinned_memory_unchanged(worker: Any) -> None:
    from inference.engine.fused import RowCopier

    far, near = worker.far.rows, worker.near.rows
    far.view(torch.uint8).random_(0, 255)
    rng = np.random.default_rng(2)
    source, target = (
        rng.permutation(len(far))[:100].astype(np.int32),
        rng.permutation(len(near))[:100].astype(np.int32),
    )
    RowCopier(worker.near).copy(far, source, target)
    torch.cuda.synchronize()
    copied = near[torch.from_numpy(target.astype(np.int64)).to(near.device)].cpu().view(torch.uint8)
    assert torch.equal(copied, far[torch.from_numpy(source.astype(np.int64))].view(torch.uint8))
