"""Injected KV is the model's own: Theorem 3, through vLLM's scheduler, blocks and attention kernels."""

import random

import pytest

from memory.contracts import DropParams, InjectParams, Segment
from memory.digest import token_digest
from memory.store import BlobStore
from tests.engine.harness import FACTS, Engine, Prompt, inject, key_of, wait_until_written

pytestmark = pytest.mark.engine


@pytest.fixture(scope="module")
def prompt(engine: Engine) -> Prompt:
    """Encoded in place: every segment where it is served."""
    prompt = Prompt(engine, "in place")
    assert engine.ask(prompt.ids, prompt.encode, max_tokens=1).params == {"accepted": prompt.keys}
    return prompt


def aligned(engine: Engine, prompt: Prompt) -> InjectParams:
    """One segment that ends at a block boundary, as a prefix-cache hit does."""
    length = (len(prompt.ids) - 1) // 32 * 32
    key = key_of("aligned", length)
    encode = {"op": "encode", "tenant": "t", "spans": [{"key": key, "start": 0, "end": length}]}
    engine.ask(prompt.ids, encode, max_tokens=1)
    return InjectParams("t", (Segment(key, length, token_digest(prompt.ids[:length])),))


def test_injecting_in_place_equals_a_prefix_cache_hit_of_the_same_tokens(engine: Engine, prompt: Prompt) -> None:
    params = aligned(engine, prompt)
    engine.ask(prompt.ids, salt="hit")
    hit = engine.ask(prompt.ids, salt="hit")
    injected = engine.ask(prompt.ids, params.to_params())
    assert injected.cached_tokens == hit.cached_tokens == params.segments[0].tokens
    assert injected.token_ids == hit.token_ids
    assert injected.logprobs == hit.logprobs


def test_injecting_in_place_is_within_vllms_own_difference_of_a_one_shot_prefill(
    engine: Engine, prompt: Prompt
) -> None:
    one_shot = engine.ask(prompt.ids, salt="one shot")
    hit = engine.ask(prompt.ids, salt="one shot")
    injected = engine.ask(prompt.ids, prompt.inject)
    assert injected.token_ids == one_shot.token_ids
    own = max(abs(a - b) for a, b in zip(hit.logprobs, one_shot.logprobs, strict=True))
    ours = max(abs(a - b) for a, b in zip(injected.logprobs, one_shot.logprobs, strict=True))
    assert ours <= own + 0.05


def test_every_segment_counts_as_cached(engine: Engine, prompt: Prompt) -> None:
    assert engine.ask(prompt.ids, prompt.inject).cached_tokens == len(prompt.prefix)


def test_facts_in_another_order_are_turned_and_answered_from(engine: Engine, prompt: Prompt) -> None:
    order = list(range(len(FACTS)))
    random.Random(3).shuffle(order)
    moved = Prompt(engine, "in place", order)
    injected, text = engine.ask(moved.ids, moved.inject), engine.ask(moved.ids)
    assert injected.cached_tokens == len(moved.prefix)
    assert "Kiwi" in text.text
    assert "Kiwi" in injected.text
    assert abs(injected.logprobs[0] - text.logprobs[0]) < 0.5


def test_the_prefix_cache_reuses_injected_blocks_under_the_same_salt(engine: Engine, prompt: Prompt) -> None:
    first = engine.ask(prompt.ids, prompt.inject, salt="again")
    second = engine.ask(prompt.ids, prompt.inject, salt="again")
    assert second.cached_tokens >= first.cached_tokens
    assert second.token_ids == first.token_ids
    assert second.logprobs == pytest.approx(first.logprobs, abs=0.05)


def test_an_unknown_segment_ends_the_injected_prefix(engine: Engine, prompt: Prompt) -> None:
    segments = prompt.offered
    segments[10] = segments[10]._replace(key="0" * 64)
    answer = engine.ask(prompt.ids, inject(segments))
    assert answer.cached_tokens == sum(segment.tokens for segment in segments[:10])
    assert "Kiwi" in answer.text


def test_tokens_that_differ_from_those_encoded_are_prefilled(engine: Engine, prompt: Prompt) -> None:
    ids = list(prompt.ids)
    ids[len(prompt.segments[0][1]) + 3] += 1  # in the first fact
    injected, text = engine.ask(ids, prompt.inject), engine.ask(ids)
    assert injected.cached_tokens == len(prompt.segments[0][1])
    assert injected.token_ids == text.token_ids


def test_a_blob_of_other_tokens_is_not_injected(engine: Engine, prompt: Prompt) -> None:
    """The digest the client names must also be the blob's: its word alone is no proof."""
    segments = prompt.offered
    segments[1:3] = segments[1]._replace(key=segments[2].key), segments[2]._replace(key=segments[1].key)
    answer = engine.ask(prompt.ids, inject(segments))
    assert answer.cached_tokens == segments[0].tokens


def test_params_that_cover_the_whole_prompt_leave_the_last_token_to_compute(engine: Engine, prompt: Prompt) -> None:
    answer = engine.ask(prompt.prefix, prompt.inject)
    assert answer.cached_tokens == len(prompt.prefix) - 1
    assert len(answer.token_ids) > 0


def test_forged_params_are_ignored_and_no_block_leaks(engine: Engine, prompt: Prompt) -> None:
    first = prompt.offered[0]
    key = first.key
    forged = [
        {"op": "inject"},
        {"op": "inject", "tenant": "t", "segments": [{"key": "x", "tokens": 1, "digest": first.digest}]},
        inject([first._replace(tokens=1 << 24)]),
        inject([first._replace(tokens=0)]),
        inject([first._replace(key="0" * 64)]),
        {"op": "encode", "tenant": "t", "spans": [{"key": key, "start": 0, "end": 10**6}]},
        {"op": "encode", "tenant": "t", "spans": [{"key": key, "start": 5, "end": 2}]},
        {"op": "evil", "do_remote_prefill": True, "remote_block_ids": [1, 2, 3]},
        {"do_remote_decode": True, "remote_host": "somewhere"},
    ]
    plain = engine.ask(prompt.ids)
    for answer in engine.ask_all([prompt.ids] * len(forged), forged):
        assert answer.token_ids == plain.token_ids
    assert engine.metric("vllm:kv_cache_usage_perc") == 0
    assert engine.ask(prompt.ids, prompt.inject).cached_tokens == len(prompt.prefix)


def test_a_blob_flipped_on_disk_is_dropped_and_the_request_served_as_text(engine: Engine, prompt: Prompt) -> None:
    damaged = Prompt(engine, "damaged")
    engine.ask(damaged.ids, damaged.encode, max_tokens=1)
    engine.ask(damaged.ids[-4:], DropParams(tuple(damaged.keys)).to_params(), max_tokens=1)
    blobs = BlobStore(engine.store)
    wait_until_written(blobs, damaged.keys)
    path = blobs.path(damaged.keys[5])
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    answer, text = engine.ask(damaged.ids, damaged.inject), engine.ask(damaged.ids)
    assert answer.cached_tokens == sum(len(ids) for _, ids in damaged.segments[:5])
    assert answer.token_ids == text.token_ids
    assert not path.exists()
    engine.ask(damaged.ids, damaged.encode, max_tokens=1)
    assert engine.ask(damaged.ids, damaged.inject).cached_tokens == len(damaged.prefix)


def test_a_dropped_blob_is_served_no_more(engine: Engine, prompt: Prompt) -> None:
    dropped = Prompt(engine, "dropped")
    engine.ask(dropped.ids, dropped.encode, max_tokens=1)
    blobs = BlobStore(engine.store)
    wait_until_written(blobs, dropped.keys)
    for key in dropped.keys[3:]:
        blobs.delete(key)
    engine.ask(dropped.ids[-4:], DropParams(tuple(dropped.keys[3:])).to_params(), max_tokens=1)
    answer = engine.ask(dropped.ids, dropped.inject)
    assert answer.cached_tokens == sum(len(ids) for _, ids in dropped.segments[:3])
