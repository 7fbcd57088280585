"""Encodes facts and headers: context, request, blob, and the one step that lets it be served."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum
from uuid import UUID

from django.conf import settings
from django.utils import timezone
from facts.enqueue import enqueue
from facts.models import Encoding, EncodingState, Fact, Owner
from facts.selectors import header_encoding, served_keys
from facts.services import encoding_announce, encoding_mark_failed, encoding_mark_ready, encoding_start

from memory.contracts import EncodeParams
from memory.encoding import (
    ContextStrategy,
    EncodingPlan,
    KeySpace,
    PlannedSegment,
    PromptTooLong,
    parse_strategy,
    plan_encoding,
    plan_header,
)
from memory.keys import cache_salt
from workers.blobs import BlobMissing, Blobs
from workers.context import choose_context
from workers.engine import EngineBroke, EngineDown, EngineRefused
from workers.model import EncodingModel

FORGET_BLOB = "workers.tiering.forget_blob"

logger = logging.getLogger(__name__)


class Outcome(Enum):
    READY = "ready"
    LOST = "lost"  # to a change meanwhile, which has sent what is left to do, or to time
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Job:
    """A pending encoding and the segment whose blob it waits for."""

    encoding: Encoding
    segment: PlannedSegment
    fact_hash: str = ""
    context_ids: Sequence[UUID] = ()
    context_hashes: dict[UUID, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Encoder:
    """Runs in the tenant's scope. Every step may be repeated: keys say what is there already.

    Both `encode_` methods raise EngineDown, EngineBroke and BlobMissing, with the encoding still pending.
    """

    model: EncodingModel
    blobs: Blobs

    def encode_fact(self, fact: Fact) -> Outcome:
        """Raises FactGoneError as well. The owner's header is encoded by the same request when it has to be."""
        if fact.expires_at is not None and fact.expires_at <= timezone.now():
            return Outcome.LOST
        strategy = parse_strategy(fact.tenant.strategy)
        encoding = self._start(fact, strategy)
        if encoding.state == EncodingState.READY:
            return Outcome.READY
        context = choose_context(fact, strategy)
        template = self.model.template
        try:
            plan = plan_encoding(
                template,
                keys=self._keys(fact.owner, strategy),
                context_lines=[template.line(row.text) for row in context.rows],
                line=template.line(fact.text),
                max_tokens=self._max_tokens(),
            )
        except PromptTooLong as error:
            return self._failed(encoding, str(error))
        assert plan.line is not None
        context = context.last(plan.context_lines)
        job = Job(encoding, plan.line, fact.hash, context.ids, context.hashes)
        return self._encode(fact.owner, strategy, plan, [*self._header_job(fact.owner, strategy, plan), job])

    def encode_header(self, owner: Owner) -> Outcome:
        strategy = parse_strategy(owner.tenant.strategy)
        plan = plan_header(self.model.template, keys=self._keys(owner, strategy))
        jobs = self._header_job(owner, strategy, plan)
        return self._encode(owner, strategy, plan, jobs) if jobs else Outcome.READY

    def give_up(self, fact_or_owner: Fact | Owner, reason: str) -> Outcome:
        """It stays usable as text."""
        strategy = parse_strategy(fact_or_owner.tenant.strategy)
        return self._failed(self._start(fact_or_owner, strategy), reason)

    def _start(self, fact_or_owner: Fact | Owner, strategy: ContextStrategy) -> Encoding:
        return encoding_start(fact_or_owner=fact_or_owner, fingerprint=self.model.fingerprint, strategy=strategy.name)

    def _header_job(self, owner: Owner, strategy: ContextStrategy, plan: EncodingPlan) -> list[Job]:
        if header_encoding(owner_id=owner.pk, fingerprint=self.model.fingerprint, strategy=strategy.name):
            return []
        encoding = self._start(owner, strategy)
        is_ready = encoding.state == EncodingState.READY
        return [] if is_ready or plan.header is None else [Job(encoding, plan.header)]

    def _encode(self, owner: Owner, strategy: ContextStrategy, plan: EncodingPlan, jobs: list[Job]) -> Outcome:
        """The last job's outcome."""
        for job in jobs:
            self._announce(job)
        missing = [job for job in jobs if self.blobs.find(job.segment, self.model.blob_fingerprint) is None]
        if missing:
            try:
                self._request(owner, strategy, plan, [job.segment for job in missing])
            except EngineRefused as error:
                return self._failed(jobs[-1].encoding, f"the engine refuses it: {error}")
        return [self._finish(job) for job in jobs][-1]

    def _announce(self, job: Job) -> None:
        former = job.encoding.key
        if former and former != job.segment.key:  # of an attempt with another context, which ended before its end
            self._forget(job.encoding, former)
        encoding_announce(encoding=job.encoding, key=job.segment.key, context_fact_ids=job.context_ids)

    def _request(
        self, owner: Owner, strategy: ContextStrategy, plan: EncodingPlan, segments: list[PlannedSegment]
    ) -> None:
        salt = cache_salt(
            settings.SALT_SECRET,
            tenant=str(owner.tenant_id),
            owner=str(owner.pk),
            kind="encode",
            strategy=strategy.name,
            epoch=owner.erasure_epoch,
        )
        params = EncodeParams(str(owner.tenant_id), tuple(segment.span for segment in segments))
        accepted = self.blobs.engine.encode(plan.token_ids, params, cache_salt=salt)
        if not accepted >= {segment.key for segment in segments}:
            raise BlobMissing("the engine did not accept the spans: is its connector on?")

    def _finish(self, job: Job) -> Outcome:
        info = self.blobs.wait_for(job.segment, self.model.blob_fingerprint)
        served = encoding_mark_ready(
            encoding=job.encoding,
            key=job.segment.key,
            digest=job.segment.digest,
            tokens=job.segment.tokens,
            bytes=info.nbytes,
            context_fact_ids=job.context_ids,
            context_hashes=job.context_hashes,
            fact_hash=job.fact_hash,
        )
        if served:
            return Outcome.READY
        self._forget(job.encoding, job.segment.key)
        return Outcome.LOST

    def _forget(self, encoding: Encoding, key: str) -> None:
        if key in served_keys(tenant=encoding.tenant, keys=[key]):
            return
        try:
            self.blobs.forget([key])
        except (EngineDown, EngineBroke):
            enqueue(FORGET_BLOB, key)

    def _failed(self, encoding: Encoding, reason: str) -> Outcome:
        logger.warning("encoding %s failed: %s", encoding.pk, reason)
        encoding_mark_failed(encoding=encoding, error=reason)
        return Outcome.FAILED

    def _keys(self, owner: Owner, strategy: ContextStrategy) -> KeySpace:
        return KeySpace(str(owner.tenant_id), str(owner.pk), self.model.blob_fingerprint, strategy.name)

    def _max_tokens(self) -> int:
        """One token is left for the answer that vLLM insists on."""
        try:
            limit = min(self.model.max_tokens, self.blobs.engine.max_model_len())
        except (EngineDown, EngineBroke):
            limit = self.model.max_tokens
        return limit - 1
