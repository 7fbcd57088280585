"""Scheduler half: decides what is injected, encoded, staged and dropped. Owns all metadata, no tensors."""

import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from vllm.v1.core.sched.output import SchedulerOutput
from vllm.v1.request import Request

from inference.engine.config import ConnectorConfig
from inference.engine.metadata import BlockIds, EncodePlan, InjectPlan, Order, StepPlan, WorkerReport
from inference.engine.stats import ConnectorStats
from memory.contracts import DropParams, EncodeParams, InjectParams, Segment, Span, parse_params
from memory.digest import token_digest
from memory.store import BlobStore
from memory.tiers.index import TierIndex


@dataclass
class Injection:
    """Segments whose tokens stand at the prompt's start; `asked_at` is when staging began."""

    segments: tuple[Segment, ...]
    offered: int = 0
    asked_at: float | None = None

    def keys_up_to(self, end: int) -> tuple[str, ...]:
        keys, at = [], 0
        for segment in self.segments:
            if at >= end:
                break
            keys.append(segment.key)
            at += segment.tokens
        return tuple(keys)


@dataclass
class Encoding:
    """Spans not read yet, first to end first, and the blocks the prompt's tokens lie in."""

    spans: list[tuple[Span, str]]
    accepted: tuple[str, ...]
    block_ids: BlockIds = field(default=())


class SchedulerHalf:
    def __init__(self, config: ConnectorConfig, world_size: int) -> None:
        self.config, self.world_size = config, world_size
        self.store = BlobStore(config.store)
        self.index = TierIndex(config.host_bytes)
        self._injections: dict[str, Injection] = {}
        self._encodings: dict[str, Encoding] = {}
        self._held: Counter[Order] = Counter()
        self._ticket = 0
        self._stage: dict[str, None] = {}
        self._inject: list[InjectPlan] = []
        self._stats = ConnectorStats()

    def on_new_request(self, request: Request) -> None:
        token_ids = request.prompt_token_ids
        params = parse_params(request.kv_transfer_params)
        if isinstance(params, DropParams):
            self._drop(set(params.keys))
        elif token_ids is None or params is None:
            return
        elif isinstance(params, InjectParams):
            segments = standing_segments(params.segments, token_ids)
            self._stats.add("refused_segments", len(params.segments) - len(segments))
            if segments:
                self._injections[request.request_id] = Injection(segments)
        elif isinstance(params, EncodeParams):
            spans = sorted((span for span in params.spans if span.end <= len(token_ids)), key=lambda span: span.end)
            digests = [(span, token_digest(token_ids[span.start : span.end])) for span in spans]
            self._encodings[request.request_id] = Encoding(digests, tuple(span.key for span in spans))

    def matched_tokens(self, request: Request, computed: int) -> int | None:
        """Tokens beyond `computed` that can be injected now; None while segments are being staged."""
        injection = self._injections.get(request.request_id)
        if injection is None or request.skip_reading_prefix_cache:
            return 0
        matched, missing = self._resident_prefix(injection)
        if missing and self._may_wait(injection):
            self._stage.update(dict.fromkeys(key for key in missing if not self.index.is_expected(key)))
            return None
        # The last token is always computed: the model has to run on something.
        injection.offered = min(matched, request.num_tokens - 1)
        return max(0, injection.offered - computed)

    def after_alloc(self, request: Request, block_ids: BlockIds, external: int) -> None:
        if encoding := self._encodings.get(request.request_id):
            encoding.block_ids = block_ids
        injection = self._injections.get(request.request_id)
        if injection is None or external == 0:
            return
        keys = injection.keys_up_to(injection.offered)
        for key in keys:
            self.index.touch(key)
        self._stats.add("injected_requests")
        self._stats.add("injected_tokens", external)
        start, end = injection.offered - external, injection.offered
        self._inject.append(InjectPlan(keys, start, end, block_ids))

    def plan_step(self, output: SchedulerOutput) -> StepPlan:
        self._ticket += 1
        inject, self._inject = tuple(self._inject), []
        stage, self._stage = tuple(self._stage), {}
        encode = tuple(self._encodes(output))
        for key in [*stage, *(plan.key for plan in encode)]:
            self.index.expect(key, self._ticket)
        dropped = self.index.take_dropped()
        self._stats.add("encoded_spans", len(encode))
        self._stats.add("staged_blobs", len(stage))
        self._stats.add("dropped_blobs", len(dropped))
        return StepPlan(self._ticket, inject, dropped, stage, encode)

    def on_report(self, report: WorkerReport) -> None:
        """A blob is resident once every rank holds it, and lost once one cannot load it."""
        self._stats.add("lost_blobs", len(report.lost))
        for order in report.lost:
            self._held.pop(order, None)
            self.index.lose(*order)
        self._held += report.ranks
        for order, resident in report.residents.items():
            if self._held[order] >= self.world_size:
                del self._held[order]
                key, ticket = order
                self.index.admit(key, resident, ticket)

    def take_stats(self) -> ConnectorStats | None:
        """Counts since the last call."""
        if self._stats.is_empty():
            return None
        taken, self._stats = self._stats, ConnectorStats()
        return taken

    def on_finished(self, request: Request) -> dict[str, Any] | None:
        self._injections.pop(request.request_id, None)
        encoding = self._encodings.pop(request.request_id, None)
        return {"accepted": list(encoding.accepted)} if encoding else None

    def _drop(self, keys: set[str]) -> None:
        for key in keys:
            self.index.drop(key)
            self._stage.pop(key, None)
        for encoding in self._encodings.values():
            encoding.spans = [item for item in encoding.spans if item[0].key not in keys]

    def _resident_prefix(self, injection: Injection) -> tuple[int, list[str]]:
        """Tokens of the segments resident from the first on, and keys worth staging that cut it short."""
        matched, missing = 0, list[str]()
        for segment in injection.segments:
            resident = self.index.get(segment.key)
            if resident is not None:
                if (resident.tokens, resident.digest) != (segment.tokens, segment.digest):
                    break  # the key is another segment's
                matched += 0 if missing else segment.tokens
            elif self.index.is_expected(segment.key) or self._can_stage(segment.key):
                missing.append(segment.key)
            else:
                break
        return matched, missing

    def _can_stage(self, key: str) -> bool:
        return not self.index.is_lost(key) and self.store.exists(key)

    def _may_wait(self, injection: Injection) -> bool:
        now = time.monotonic()
        injection.asked_at = injection.asked_at or now
        return now - injection.asked_at < self.config.stage_seconds

    def _encodes(self, output: SchedulerOutput) -> list[EncodePlan]:
        """Spans whose last token this step computes, or found computed."""
        plans: list[EncodePlan] = []
        for new in output.scheduled_new_reqs:
            if encoding := self._encodings.get(new.req_id):
                encoding.block_ids = new.block_ids
                plans += self._reached(encoding, new.num_computed_tokens + output.num_scheduled_tokens[new.req_id])
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
            plans += self._reached(encoding, cached.num_computed_tokens[i] + output.num_scheduled_tokens[request_id])
        return plans

    @staticmethod
    def _reached(encoding: Encoding, tokens: int) -> list[EncodePlan]:
        plans = []
        while encoding.spans and encoding.spans[0][0].end <= tokens:
            span, digest = encoding.spans.pop(0)
            plans.append(EncodePlan(span.key, digest, span.start, span.end, encoding.block_ids))
        return plans


def standing_segments(segments: tuple[Segment, ...], token_ids: list[int]) -> tuple[Segment, ...]:
    """The longest run of segments whose tokens are the prompt's own, from its first token on."""
    ids = np.asarray(token_ids, dtype="<i4")
    standing, at = [], 0
    for segment in segments:
        end = at + segment.tokens
        if end > len(ids) or token_digest(ids[at:end]) != segment.digest:  # type: ignore[arg-type]
            break
        standing.append(segment)
        at = end
    return tuple(standing)
