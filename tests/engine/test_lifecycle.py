"""Blobs outlive the engine, and are the same bits however the encode was scheduled."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import torch

from memory.store import BlobStore
from tests.engine.harness import Answer, Engine, Prompt, assert_same, wait_until_written

pytestmark = pytest.mark.engine


@dataclass(frozen=True)
class Before:
    """What the first engine left."""

    prompt: Prompt
    answer: Answer


@pytest.fixture(scope="module")
def before(home: Path, store: Path) -> Before:
    with Engine(home, store, block_size=32) as engine:
        prompt = Prompt(engine, "kept")
        engine.ask(prompt.ids, prompt.encode, max_tokens=1)
        answer = engine.ask(prompt.ids, prompt.inject)
        wait_until_written(BlobStore(store), prompt.keys)
    return Before(prompt, answer)


@pytest.fixture(scope="module")
def small(home: Path, store: Path, before: Before) -> Iterator[Engine]:
    """Started on the same folder; no prefix cache, 64 tokens a step, room for about 1,000 tokens."""
    limits: dict[str, Any] = {"max_num_batched_tokens": 64, "num_gpu_blocks_override": 31, "max_model_len": 768}
    with Engine(
        home, store, block_size=32, enable_prefix_caching=False, scheduling_policy="priority", **limits
    ) as engine:
        yield engine


def rows(store: Path, prompt: Prompt) -> torch.Tensor:
    blobs = BlobStore(store)
    wait_until_written(blobs, prompt.keys)
    return torch.cat([blob.rows for key in prompt.keys if (blob := blobs.read(key))])


def test_a_restarted_engine_injects_without_encoding(small: Engine, before: Before) -> None:
    answer = small.ask(before.prompt.ids, before.prompt.inject)
    assert answer.cached_tokens == len(before.prompt.prefix)


def test_prefix_caching_on_and_off_agree(small: Engine, before: Before) -> None:
    answer = small.ask(before.prompt.ids, before.prompt.inject)
    assert answer.token_ids == before.answer.token_ids
    assert answer.logprobs == before.answer.logprobs


def test_an_encode_in_chunks_gives_the_same_bits(small: Engine, store: Path, before: Before) -> None:
    chunked = Prompt(small, "chunked")
    small.ask(chunked.ids, chunked.encode, max_tokens=1)
    assert_same(rows(store, chunked), rows(store, before.prompt))


def test_an_encode_preempted_in_its_prefill_gives_the_same_bits(small: Engine, store: Path, before: Before) -> None:
    """30 blocks: 20 for the encode, 9 for the others until each of them needs a fourth, while it is being prefilled."""
    preempted = Prompt(small, "preempted")
    others = [preempted.ids[i : i + 92] for i in range(3)]
    earlier = small.metric("vllm:num_preemptions")
    params = [None, None, None, preempted.encode]
    small.ask_all([*others, preempted.ids], params, max_tokens=[70, 70, 70, 1], priorities=[0, 0, 0, 10])
    assert small.metric("vllm:num_preemptions") > earlier
    assert_same(rows(store, preempted), rows(store, before.prompt))
