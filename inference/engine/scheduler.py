"""Scheduler half: decides what is injected, encoded, staged and dropped. Owns all metadata, no tensors."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any

import numpy as np
from vllm.v1.core.sched.output import SchedulerOutput
from vllm.v1.request import Request

from inference.engine.arenas import BlockGroup
from inference.engine.config import ConnectorConfig
from inference.engine.metadata import NO_ROWS, BlockIds, EncodePlan, InjectPlan, StepPlan, WorkerReport
from inference.engine.residency import Residency
from inference.engine.stats import ConnectorStats
from memory.contracts import (
    DropParams,
    EncodeParams,
    HeldParams,
    InjectParams,
    LimitParams,
    MoveParams,
    PromoteParams,
    Segment,
    Span,
    pack_keys,
    parse_params,
)
from memory.digest import count_standing, token_digest
from memory.tiers.books import Entry


@dataclass
class Injection:
    """Segments whose tokens stand at the prompt's start; `asked_at` is when staging began.

    `entries` are the blobs found near from the first segment on, `tokens` theirs; `computed` is what vLLM has itself.

    `pinned` are blobs that are there while others are waited for: they must not leave to make room for them.
    """

    tenant: str
    segments: tuple[Segment, ...]
    entries: list[Entry] = field(default_factory=list)
    tokens: int = 0
    computed: int = 0
    pinned: dict[str, Entry] = field(default_factory=dict)
    asked_at: float | None = None
    is_counted: bool = False


@dataclass
class Encoding:
    """Spans not read yet, first to end first, and the blocks the prompt's tokens lie in."""

    tenant: str
    spans: list[tuple[Span, str]]
    accepted: tuple[str, ...]
    block_ids: BlockIds = field(default=())


class SchedulerHalf:
    def __init__(
        self, config: ConnectorConfig, residency: Residency, row_bytes: int, groups: Sequence[BlockGroup]
    ) -> None:
        self.config, self.residency, self.row_bytes, self.groups = config, residency, row_bytes, groups
        self._injections: dict[str, Injection] = {}
        self._encodings: dict[str, Encoding] = {}
        self._inject: list[InjectPlan] = []
        self._stats = ConnectorStats()
        self._told_sizes: dict[str, int] = {}
        self._dropped: list[str] = []
        self._held: dict[str, dict[str, str]] = {}

    def on_new_request(self, request: Request) -> None:
        token_ids = request.prompt_token_ids
        params = parse_params(request.kv_transfer_params)
        if request.lora_request is not None and isinstance(params, InjectParams | EncodeParams):
            return  # an adapter's KV is another
        match params:
            case DropParams(keys):
                self._drop(set(keys))
            case MoveParams(keys, tier):
                self.residency.demote(keys, to_disk=tier == "disk")
            case LimitParams(limits):
                self.residency.limit(limits, self.row_bytes)
            case HeldParams(most):
                held = self.residency.held(most)
                self._held[request.request_id] = {tier: pack_keys(keys) for tier, keys in held.items()}
            case PromoteParams(tenant, segments, tier):
                for segment in segments:
                    if tier == "host":
                        self.residency.want_far(segment, tenant)
                    else:
                        self.residency.want(segment, tenant)
            case InjectParams(tenant, segments) if token_ids is not None:
                count = count_standing(((segment.tokens, segment.digest) for segment in segments), token_ids)
                standing = segments[:count]
                self._stats.add("refused_segments", len(segments) - len(standing))
                if standing:
                    self._injections[request.request_id] = Injection(tenant, standing)
            case EncodeParams(tenant, spans) if token_ids is not None:
                inside = separate_spans(spans, len(token_ids))
                digests = [(span, token_digest(token_ids[span.start : span.end])) for span in inside]
                self._encodings[request.request_id] = Encoding(tenant, digests, tuple(span.key for span in inside))

    def matched_tokens(self, request: Request, computed: int) -> int | None:
        """Tokens beyond `computed` that can be injected now; None while segments are on their way."""
        injection = self._injections.get(request.request_id)
        if injection is None or request.skip_reading_prefix_cache:
            return 0
        if self._resolve(injection) and self._may_wait(injection):
            return None
        # The last token is always computed: the model has to run on something.
        injection.computed = computed
        return max(0, min(injection.tokens, request.num_tokens - 1) - computed)

    def after_alloc(self, request: Request, block_ids: BlockIds, external: int) -> None:
        if encoding := self._encodings.get(request.request_id):
            encoding.block_ids = block_ids
        injection = self._injections.get(request.request_id)
        if injection is None:
            return
        if external:
            self._stats.add("injected_requests")
            self._stats.add("injected_tokens", external)
            start = injection.computed
            self._inject.append(self._plan(injection.entries, start, start + external, block_ids))
        self._unpin(injection)

    def plan_step(self, output: SchedulerOutput) -> StepPlan:
        inject, self._inject = tuple(self._inject), []
        dropped, self._dropped = tuple(self._dropped), []
        encode = tuple(self._encodes(output))
        near, far = self.residency.near, self.residency.far
        self._stats.add("encoded_spans", len(encode))
        return StepPlan(
            erase_near=near.take_erased(),
            erase_far=far.take_erased() if far else NO_ROWS,
            drop=dropped,
            inject=inject,
            load=self.residency.take_loads(),
            encode=encode,
        )

    def on_report(self, report: WorkerReport) -> None:
        self.residency.on_report(report)

    def take_stats(self) -> ConnectorStats | None:
        """Counts since the last call."""
        for name, count in self.residency.counts().items():
            self._stats.add(name, count)
        sizes = self._sizes()
        if self._stats.is_empty() and sizes == self._told_sizes:
            return None
        self._told_sizes = sizes
        for name, size in sizes.items():
            self._stats.set(name, size)
        taken, self._stats = self._stats, ConnectorStats()
        return taken

    def on_finished(self, request: Request) -> dict[str, Any] | None:
        if injection := self._injections.pop(request.request_id, None):
            self._unpin(injection)
        if held := self._held.pop(request.request_id, None):
            return {"held": held}
        encoding = self._encodings.pop(request.request_id, None)
        return {"accepted": list(encoding.accepted)} if encoding else None

    @property
    def has_work(self) -> bool:
        """Whether blobs are on their way; vLLM steps on, and so collects them, even when no request asks."""
        return not self.residency.is_settled

    def _sizes(self) -> dict[str, int]:
        sizes = {"row_bytes": self.row_bytes}
        for name, books in (("near", self.residency.near), ("far", self.residency.far)):
            sizes[f"{name}_rows"] = books.capacity if books else 0
            sizes[f"{name}_rows_used"] = books.used_rows if books else 0
            sizes[f"{name}_blobs"] = books.blobs if books else 0
        return sizes

    def _drop(self, keys: set[str]) -> None:
        self.residency.erase(keys)
        self._dropped += keys
        for encoding in self._encodings.values():
            encoding.spans = [item for item in encoding.spans if item[0].key not in keys]

    def _resolve(self, injection: Injection) -> bool:
        """Set the blobs that stand in the near arena from the first on; whether to wait for those behind them."""
        if not injection.is_counted:
            self.residency.count_lookups(injection.segments)
            injection.is_counted = True
        found = [self.residency.get(segment) for segment in injection.segments]
        injection.entries = [entry for entry in takewhile(lambda entry: entry is not None, found) if entry]
        injection.tokens = sum(entry.tokens for entry in injection.entries)
        if len(injection.entries) == len(found):
            return False
        for entry in filter(None, found):  # before others are loaded: they must not take these rows
            self._pin(injection, entry)
        missing = [segment for segment, there in zip(injection.segments, found, strict=True) if there is None]
        coming = list(takewhile(lambda segment: self.residency.want(segment, injection.tenant), missing))
        return bool(coming) and (self.config.waits_for_disk or not self.residency.comes_from_disk(coming[0]))

    def _pin(self, injection: Injection, entry: Entry) -> None:
        held = injection.pinned.get(entry.key)
        if held is entry:
            return
        if held is not None:  # dropped meanwhile, and come again
            self.residency.near.unpin(held)
        injection.pinned[entry.key] = entry
        self.residency.near.pin(entry)

    def _unpin(self, injection: Injection) -> None:
        for entry in injection.pinned.values():
            self.residency.near.unpin(entry)
        injection.pinned = {}

    def _may_wait(self, injection: Injection) -> bool:
        now = time.monotonic()
        injection.asked_at = injection.asked_at or now
        return now - injection.asked_at < self.config.stage_seconds

    def _plan(self, entries: list[Entry], start: int, end: int, block_ids: BlockIds) -> InjectPlan:
        """Rows of prompt positions `[start, end)` and how far each is moved from where it was encoded."""
        self.residency.near.touch(entries)
        rows = np.concatenate([entry.rows for entry in entries])[start:end]
        sizes = np.array([entry.tokens for entry in entries])
        stored = np.array([entry.start for entry in entries])
        moved = np.repeat(np.cumsum(sizes) - sizes - stored, sizes)[start:end].astype(np.int32)
        return InjectPlan(rows, moved, start, block_ids)

    def _encodes(self, output: SchedulerOutput) -> list[EncodePlan]:
        """Spans whose last token this step computes, or found computed."""
        plans: list[EncodePlan] = []
        for new in output.scheduled_new_reqs:
            if encoding := self._encodings.get(new.req_id):
                encoding.block_ids = new.block_ids
                plans += self._reached(encoding, new.num_computed_tokens, output.num_scheduled_tokens[new.req_id])
        cached = output.scheduled_cached_reqs
        for i, request_id in enumerate(cached.req_ids):
            encoding = self._encodings.get(request_id)
            if encoding is None:
                continue
            new_ids = cached.new_block_ids[i]
            if request_id in cached.resumed_req_ids:
                encoding.block_ids = new_ids or ()
            elif new_ids is not None:
                pairs = zip(encoding.block_ids, new_ids, strict=True)
                encoding.block_ids = tuple([*old, *more] for old, more in pairs)
            computed, scheduled = cached.num_computed_tokens[i], output.num_scheduled_tokens[request_id]
            plans += self._reached(encoding, computed, scheduled)
        return plans

    def _reached(self, encoding: Encoding, computed: int, scheduled: int) -> list[EncodePlan]:
        plans = []
        while encoding.spans and encoding.spans[0][0].end <= computed + scheduled:
            span, digest = encoding.spans.pop(0)
            pairs = zip(self.groups, encoding.block_ids, strict=True)
            if not all(group.still_holds(span.start, span.end, ids, computed) for group, ids in pairs):
                continue  # a sliding window has moved on: whoever asked finds no blob
            segment = Segment(span.key, span.end - span.start, digest)
            keeps = self.config.keeps_encoded
            near, far = self.residency.targets(segment, encoding.tenant) if keeps else (None, None)
            plans.append(EncodePlan(span.key, digest, span.start, span.end, encoding.block_ids, near, far))
        return plans


def separate_spans(spans: Sequence[Span], tokens: int) -> list[Span]:
    """Those inside a prompt of so many tokens, first to end first, without any that overlaps one before."""
    kept: list[Span] = []
    for span in sorted(spans, key=lambda span: span.end):
        if span.end <= tokens and span.start >= (kept[-1].end if kept else 0):
            kept.append(span)
    return kept
