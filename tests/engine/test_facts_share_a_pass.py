"""Facts encoded in one pass have the KV that each has when it is encoded alone behind the same tokens."""

from pathlib import Path

import pytest

from memory.blob import Blob
from memory.contracts import EncodeParams, Span
from memory.encoding import EncodingPlan, KeySpace, PlannedSegment, plan_encoding
from memory.prompt import ChatTemplate
from memory.store import BlobStore
from tests.engine.harness import FACTS, Engine, assert_same, key_of, wait_until_written

pytestmark = pytest.mark.engine
KEYS = KeySpace("tenant", "owner", "model", "window(2)/2")


@pytest.fixture(scope="module")
def plan(engine: Engine) -> EncodingPlan:
    template = ChatTemplate(engine.tokenizer)
    context, run = ([line.replace("- ", "- Of old: ") for line in FACTS[:2]], FACTS)
    return plan_encoding(template, keys=KEYS, context_lines=context, lines=run, max_tokens=2047)


def encoded(engine: Engine, ids: list[int], *spans: Span) -> list[Blob]:
    params = EncodeParams("tenant", tuple(spans))
    keys = [span.key for span in spans]
    assert engine.ask(ids, params.to_params(), max_tokens=1).params == {"accepted": keys}
    blobs = BlobStore(Path(engine.store))
    wait_until_written(blobs, keys)
    found = [blobs.read(key) for key in keys]
    return [blob for blob in found if blob is not None]


def alone(engine: Engine, plan: EncodingPlan, line: PlannedSegment, number: int) -> Blob:
    (blob,) = encoded(engine, plan.token_ids[: line.end], Span(key_of("alone", number), line.start, line.end))
    return blob


def test_each_blob_is_that_of_a_request_of_its_own(engine: Engine, plan: EncodingPlan) -> None:
    together = encoded(engine, plan.token_ids, *(line.span for line in plan.lines))
    assert len(together) == len(FACTS)
    for number in (0, 1, 13, len(FACTS) - 1):
        line, blob = plan.lines[number], together[number]
        own = alone(engine, plan, line, number)
        assert (blob.start, blob.digest, blob.tokens) == (line.start, line.digest, line.tokens)
        assert (own.start, own.digest, own.layout) == (blob.start, blob.digest, blob.layout)
        assert_same(blob.rows, own.rows)


def test_a_fact_behind_others_has_other_kv_than_without_them(engine: Engine, plan: EncodingPlan) -> None:
    """What a blob is compared with above is not the same for any context."""
    line = plan.lines[-1]
    assert plan.header
    header = plan.token_ids[: plan.header.end]
    ids = [*header, *plan.token_ids[line.start : line.end]]
    (bare,) = encoded(engine, ids, Span(key_of("bare", 0), len(header), len(ids)))
    own = alone(engine, plan, line, len(plan.lines))
    assert own.digest == bare.digest
    with pytest.raises(AssertionError):
        assert_same(own.rows, bare.rows)
