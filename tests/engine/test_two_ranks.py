"""Tensor parallelism: each rank keeps its heads of a blob; a request is injected when all ranks have theirs."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from inference.engine.server import kv_transfer
from memory.contracts import DropParams, EncodeParams, InjectParams, Segment, Span
from memory.digest import token_digest
from memory.store import BlobStore, Shard
from tests.engine.harness import wait_until_written

pytestmark = pytest.mark.engine

RANKS, LAYERS, KV_HEADS, HEAD_DIM, VOCABULARY = 2, 2, 2, 32, 512
SHAPE: dict[str, Any] = {
    "hidden_size": 128,
    "intermediate_size": 256,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 4,
    "num_key_value_heads": KV_HEADS,
    "head_dim": HEAD_DIM,
    "vocab_size": VOCABULARY,
    "initializer_range": 0.2,
    "dtype": "bfloat16",
}
FACTS = [[(7 * fact + 3 * i) % VOCABULARY for i in range(20 + fact)] for fact in range(6)]
NOISE = 0.02  # of bfloat16
QUESTION = list(range(40, 60))
PREFIX = [token for ids in FACTS for token in ids]
KEYS = [f"{fact:064x}" for fact in range(len(FACTS))]


class Ranks:
    """An engine of two ranks with the weights in a folder."""

    def __init__(self, folder: Path) -> None:
        from vllm import LLM
        from vllm.config import KVTransferConfig

        extra = {"store": str(folder / "blobs"), "host_bytes": 64 << 20, "fingerprint": "f"}
        self.llm = LLM(
            str(folder),
            tensor_parallel_size=RANKS,
            skip_tokenizer_init=True,
            enforce_eager=True,
            max_model_len=1024,
            max_num_seqs=4,
            kv_transfer_config=KVTransferConfig(**kv_transfer(extra)),
        )
        self.salts = 0

    def ask(self, ids: list[int], params: Any = None) -> Any:
        from vllm import SamplingParams

        self.salts += 1
        sampling = SamplingParams(
            temperature=0,
            max_tokens=4,
            logprobs=1,
            detokenize=False,
            ignore_eos=True,
            extra_args={"kv_transfer_params": params.to_params()} if params else None,
        )
        prompt: Any = {"prompt_token_ids": ids, "cache_salt": f"salt-{self.salts}"}
        return self.llm.generate([prompt], sampling, use_tqdm=False)[0]

    def stop(self) -> None:
        self.llm.llm_engine.engine_core.shutdown()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small Llama with random weights."""
    from transformers import LlamaConfig, LlamaForCausalLM

    folder = tmp_path_factory.mktemp("ranks")
    torch.manual_seed(0)
    llama: Any = LlamaForCausalLM
    llama(LlamaConfig(**SHAPE)).to(torch.bfloat16).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def ranks(folder: Path) -> Iterator[Ranks]:
    os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", "nobind")
    engine = Ranks(folder)
    yield engine
    engine.stop()


def encode() -> EncodeParams:
    ends = [sum(map(len, FACTS[: fact + 1])) for fact in range(len(FACTS))]
    spans = (Span(key, end - len(ids), end) for key, ids, end in zip(KEYS, FACTS, ends, strict=True))
    return EncodeParams("t", tuple(spans))


def inject() -> InjectParams:
    segments = (Segment(key, len(ids), token_digest(ids)) for key, ids in zip(KEYS, FACTS, strict=True))
    return InjectParams("t", tuple(segments))


def said(answer: Any) -> tuple[list[int], list[float]]:
    completion = answer.outputs[0]
    steps = zip(completion.token_ids, completion.logprobs, strict=True)
    return list(completion.token_ids), [step[token].logprob for token, step in steps]


def ask_injected(ranks: Ranks) -> Any:
    return ranks.ask([*PREFIX, *QUESTION], inject())


def test_each_rank_writes_its_heads_and_injects_them(folder: Path, ranks: Ranks) -> None:
    computed = ranks.ask([*PREFIX, *QUESTION], encode())
    assert set(computed.kv_transfer_params["accepted"]) == set(KEYS)
    blobs = BlobStore(folder / "blobs")
    wait_until_written(blobs, KEYS)
    halves = [blobs.read(KEYS[0], Shard(rank, RANKS)) for rank in range(RANKS)]
    rows = [half.rows for half in halves if half is not None]
    assert [half.shape for half in rows] == [(len(FACTS[0]), LAYERS * 2 * KV_HEADS // RANKS * HEAD_DIM)] * RANKS
    assert not torch.equal(*rows)

    injected = ask_injected(ranks)
    assert injected.num_cached_tokens == len(PREFIX)
    assert said(injected)[0] == said(computed)[0] != said(ranks.ask(QUESTION))[0]
    assert said(injected)[1] == pytest.approx(said(computed)[1], abs=NOISE)


def test_a_blob_whose_other_half_is_damaged_is_computed(folder: Path, ranks: Ranks) -> None:
    ranks.ask([0], DropParams((KEYS[1],)))
    path = BlobStore(folder / "blobs").path(KEYS[1], Shard(1, RANKS))
    content = bytearray(path.read_bytes())
    content[-1] ^= 1
    path.write_bytes(content)
    expected = said(ranks.ask([*PREFIX, *QUESTION]))
    for _ in range(2):  # whatever the first one waits for
        found = ask_injected(ranks)
        assert said(found)[0] == expected[0]
        assert said(found)[1] == pytest.approx(expected[1], abs=NOISE)
    assert found.num_cached_tokens == len(FACTS[0])


def test_deleted_blobs_are_injected_by_no_rank(ranks: Ranks, folder: Path) -> None:
    for key in KEYS:
        BlobStore(folder / "blobs").delete(key)
    ranks.ask([0], DropParams(tuple(KEYS)))
    assert ask_injected(ranks).num_cached_tokens == 0
