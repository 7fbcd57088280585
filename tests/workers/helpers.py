"""Blobs as the engine would write them, encodings as the database has them, tasks as the broker holds them."""

import base64
import json
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import redis
import torch
from celery import Task
from facts.models import Encoding, Fact

from memory.blob import Blob
from memory.digest import token_digest
from memory.encoding import EncodingPlan, KeySpace, PlannedSegment, plan_encoding
from memory.layout import KVLayout, LayerShape
from memory.store import BlobStore
from tests.workers.troubled_engine import Body, Reply, accept_all
from workers.encode import encode_fact
from workers.model import encoding_model

LAYOUT = KVLayout((LayerShape(1, 4),), "float32")
STRATEGY = "neighbours(16)/1"


def plan_of(fact: Fact, *context: Fact, strategy: str = STRATEGY) -> EncodingPlan:
    """The request that encodes `fact` behind `context`, the best last."""
    return pass_of([fact], *context, strategy=strategy)


def pass_of(run: Sequence[Fact], *context: Fact, strategy: str = STRATEGY) -> EncodingPlan:
    """The request that encodes all of `run`, each behind those before it."""
    fact = run[0]
    model = encoding_model()
    keys = KeySpace(str(fact.tenant_id), str(fact.owner_id), model.blob_fingerprint, strategy)
    lines = [model.template.line(earlier.text) for earlier in context]
    own = [model.template.line(other.text) for other in run]
    return plan_encoding(model.template, keys=keys, context_lines=lines, lines=own, max_tokens=4096)


def line_of(plan: EncodingPlan) -> PlannedSegment:
    (line,) = plan.lines
    return line


def header_of_plan(plan: EncodingPlan) -> PlannedSegment:
    assert plan.header is not None
    return plan.header


def write_blob(store: BlobStore, segment: PlannedSegment, *, fingerprint: str = "") -> None:
    rows = torch.zeros(segment.tokens, LAYOUT.row_elements)
    made_by = fingerprint or encoding_model().blob_fingerprint
    store.write(Blob(segment.key, rows, segment.start, segment.digest, LAYOUT.describe(), made_by))


def write_blobs(store: BlobStore, plan: EncodingPlan) -> None:
    """Header and lines, as if an engine had just encoded them."""
    for segment in (header_of_plan(plan), *plan.lines):
        write_blob(store, segment)


def encode(fact: Fact) -> Encoding:
    """Run the task with all its retries; the fact's encoding after it."""
    run_task(fact)
    return encoding_of(fact)


def run_task(fact: Fact) -> None:
    finished(encode_fact, fact.tenant_id, fact.pk)


def finished(task: "Task[Any, Any]", *args: object) -> None:
    """Run a task here, its retries at once. Raises what it raises."""
    task.apply(args=tuple(str(arg) for arg in args)).get()


def encoding_of(fact: Fact) -> Encoding:
    return Encoding.objects.exclude(state="stale").get(fact=fact)


def header_of(fact: Fact) -> Encoding:
    return Encoding.objects.exclude(state="stale").get(owner_id=fact.owner_id, fact=None)


def encoding_into(store: BlobStore) -> Callable[[Body], Reply]:
    """An engine's answer without trouble: a blob of zeros for every span."""

    def encode(body: Body) -> Reply:
        write_asked(store, body)
        return accept_all(body)

    return encode


def write_asked(store: BlobStore, body: Body) -> None:
    for span in body["kv_transfer_params"]["spans"]:
        ids = body["prompt"][span["start"] : span["end"]]
        write_blob(store, PlannedSegment(span["key"], span["start"], span["end"], token_digest(ids)))


def ready(store: BlobStore, fact: Fact, *context: Fact) -> Encoding:
    """The fact's encoding, its blob in the store."""
    write_blobs(store, plan_of(fact, *context))
    encoding = encode(fact)
    assert encoding.state == "ready"
    return encoding


def point(fact: Fact, degrees: float) -> Fact:
    """Give the fact a vector of the configured model; facts are as near as their angles."""
    radians = math.radians(degrees)
    fact.embedding = np.array([math.cos(radians), math.sin(radians)], dtype="<f4").tobytes()
    Fact.objects.filter(pk=fact.pk).update(embedding=fact.embedding, embedding_model="demo")
    return fact


def tasks_in(broker: redis.Redis, queue: str) -> list[tuple[str, list[str]]]:
    """Name and arguments of each task that waits, the first sent first."""
    messages: Sequence[bytes] = broker.lrange(queue, 0, -1)  # type: ignore[assignment]
    return [_task(json.loads(message)) for message in reversed(messages)]


def _task(message: dict[str, object]) -> tuple[str, list[str]]:
    headers, body = message["headers"], message["body"]
    assert isinstance(headers, dict)
    return headers["task"], json.loads(base64.b64decode(str(body)))[0]
