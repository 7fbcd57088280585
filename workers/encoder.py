"""Encodes facts and headers: context, request, blobs, and the one step that lets them be served."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Any
from uuid import UUID

from django.conf import settings
from django.utils import timezone
from facts.enqueue import enqueue_many
from facts.models import Encoding, EncodingState, Fact, Owner
from facts.selectors import fact_encoding, header_encoding, served_keys
from facts.services import (
    ComingBlob,
    MadeBlob,
    encoding_mark_failed,
    encoding_start,
    encodings_announce,
    encodings_mark_ready,
    encodings_note_checked,
    encodings_take,
    encodings_take_apart,
    refinement_give_up,
)
from tenants.affinity import owner_affinity

from memory.contracts import EncodeParams
from memory.encoding import (
    ContextStrategy,
    EncodingPlan,
    KeySpace,
    PlannedSegment,
    PromptTooLong,
    parse_stages,
    plan_encoding,
    plan_header,
    strategy_names,
)
from memory.keys import cache_salt
from workers.blobs import BlobMissing, Blobs
from workers.context import Pass, choose_pass
from workers.model import EncodingModel
from workers.port import EncodePort, EngineBroke, EngineDown, EngineRefused

FORGET_BLOB = "workers.tiering.forget_blob"
TOKENS_A_LINE = 4  # at least

logger = logging.getLogger(__name__)


class Outcome(Enum):
    READY = "ready"
    LOST = "lost"  # to a change meanwhile, which has sent what is left to do, to another fact's pass, or to time
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Job:
    """A pending encoding and the segment whose blob it waits for.

    `context`: hashes of the facts that stand before it; `turns`: ids of the conversation's turns that do.
    """

    encoding: Encoding
    segment: PlannedSegment
    fact_hash: str = ""
    context: Mapping[UUID, str] = field(default_factory=dict)
    turns: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True)
class Encoder:
    """Runs in the tenant's scope. Every step may be repeated: keys say what is there already.

    Both `encode_` methods raise EngineDown, EngineBroke and BlobMissing, with what was not made still pending.
    """

    model: EncodingModel
    blobs: Blobs
    port: EncodePort

    def encode_fact(self, fact: Fact) -> Outcome:
        """Raises FactGoneError as well. The facts behind it come along in one pass where the strategy packs, and the
        owner's header where it has to be encoded.
        """
        if fact.expires_at is not None and fact.expires_at <= timezone.now():
            return Outcome.LOST
        stages = parse_stages(fact.tenant.strategy)
        strategy = stages.first
        known = fact_encoding(fact=fact, fingerprint=self.model.fingerprint, strategies=stages.names)
        if known and known.state == EncodingState.READY:
            return Outcome.READY
        if known and not known.is_free_for(fact.pk):
            return Outcome.LOST
        names: dict[str, Any] = {"fingerprint": self.model.fingerprint, "strategy": strategy.name}
        names["settled_by"] = stages.names
        encodings = encodings_take(fact=fact, followers=(), **names)  # before the engine is asked anything: it may hang
        if not encodings:
            return Outcome.LOST
        chosen = choose_pass(fact, strategy, at_most=max(1, settings.ENV.encode_tokens // TOKENS_A_LINE))
        try:
            plan = self._plan(fact.owner, strategy, chosen)
        except PromptTooLong as error:
            return self.give_up(fact, str(error))
        if followers := [row.id for row in chosen.run[1 : len(plan.lines)]]:
            encodings = encodings_take(fact=fact, followers=followers, **names)
            if not encodings:
                return Outcome.LOST
        chosen = chosen.within(context=plan.context_lines, run=len(encodings))
        if len(encodings) < len(plan.lines):
            plan = self._plan(fact.owner, strategy, chosen)
        turns = tuple(turn.pk for turn in chosen.turns)
        jobs = [
            Job(encoding, segment, row.hash, chosen.before(index), turns)
            for index, (encoding, segment, row) in enumerate(zip(encodings, plan.lines, chosen.run, strict=True))
        ]
        return self._encode_pass(fact, strategy, plan, jobs)

    def refine_fact(self, fact: Fact, *, least_new: float) -> Outcome:
        """Encode a served fact by the best strategy as its facts are now; what is served stays so until that is ready.

        Nothing is done where so little of the context is new that it is less than the share `least_new`. One that
        fails is given up until there is more to gain. Raises EngineDown, FactGoneError.
        """
        strategy = parse_stages(fact.tenant.strategy).best
        names, started = strategy_names(fact.tenant.strategy), timezone.now()
        served = fact_encoding(fact=fact, fingerprint=self.model.fingerprint, strategies=names)
        if served is None or served.state != EncodingState.READY:
            return Outcome.LOST
        chosen = choose_pass(fact, strategy, at_most=1)
        plan = self._plan(fact.owner, strategy, chosen)
        chosen = chosen.within(context=plan.context_lines, run=1)
        if served.strategy == strategy.name and not _is_better(served, chosen, strategy, least_new):
            encodings_note_checked(ids=[served.pk], at=started)
            return Outcome.READY
        taken = encodings_take(
            fact=fact,
            followers=(),
            fingerprint=self.model.fingerprint,
            strategy=strategy.name,
            settled_by=(),
        )
        if not taken:
            return Outcome.LOST
        turns = tuple(turn.pk for turn in chosen.turns)
        job = Job(taken[0], plan.lines[0], chosen.run[0].hash, chosen.before(0), turns)
        try:
            return self._encode(fact.owner, strategy, plan, [*self._header_job(fact.owner, strategy, plan), job])
        except (EngineBroke, EngineRefused, BlobMissing) as error:
            logger.warning("fact %s keeps its blob, a better one failed: %s", fact.pk, error)
            refinement_give_up(encoding=job.encoding)
            return Outcome.FAILED

    def encode_header(self, owner: Owner) -> Outcome:
        strategy = parse_stages(owner.tenant.strategy).first
        plan = plan_header(self.model.template, keys=self._keys(owner, strategy))
        jobs = self._header_job(owner, strategy, plan)
        if not jobs:
            return Outcome.READY
        try:
            return self._encode(owner, strategy, plan, jobs)
        except EngineRefused as error:
            return self._failed(jobs[-1].encoding, f"the engine refuses it: {error}")

    def give_up(self, fact_or_owner: Fact | Owner, reason: str) -> Outcome:
        """It stays usable as text."""
        strategy = parse_stages(fact_or_owner.tenant.strategy).first
        return self._failed(self._start(fact_or_owner, strategy), reason)

    def _start(self, fact_or_owner: Fact | Owner, strategy: ContextStrategy) -> Encoding:
        return encoding_start(fact_or_owner=fact_or_owner, fingerprint=self.model.fingerprint, strategy=strategy.name)

    def _plan(self, owner: Owner, strategy: ContextStrategy, chosen: Pass) -> EncodingPlan:
        """Raises PromptTooLong."""
        line = self.model.template.line
        return plan_encoding(
            self.model.template,
            keys=self._keys(owner, strategy),
            context_lines=chosen.context_lines(self.model.template),
            lines=[line(row.text) for row in chosen.run],
            max_tokens=self._max_tokens(),
            pass_tokens=settings.ENV.encode_tokens,
            has_header=strategy.has_header,
        )

    def _header_job(self, owner: Owner, strategy: ContextStrategy, plan: EncodingPlan) -> list[Job]:
        names = parse_stages(owner.tenant.strategy).names
        known = header_encoding(owner_id=owner.pk, fingerprint=self.model.fingerprint, strategies=names)
        if plan.header is None or known:
            return []
        encoding = self._start(owner, strategy)
        return [] if encoding.state == EncodingState.READY else [Job(encoding, plan.header)]

    def _encode_pass(self, fact: Fact, strategy: ContextStrategy, plan: EncodingPlan, jobs: list[Job]) -> Outcome:
        """Which fact of a pass it failed at nobody knows: they are tried one by one after that."""
        if plan.header is None:
            self.encode_header(fact.owner)
        try:
            return self._encode(fact.owner, strategy, plan, [*self._header_job(fact.owner, strategy, plan), *jobs])
        except (EngineBroke, BlobMissing):
            self._take_apart(fact, jobs)
            raise
        except EngineRefused as error:
            if len(jobs) == 1:
                return self._failed(jobs[0].encoding, f"the engine refuses it: {error}")
            self._take_apart(fact, jobs)
            raise EngineBroke(f"the engine refuses {len(jobs)} facts together: {error}") from error

    def _take_apart(self, fact: Fact, jobs: list[Job]) -> None:
        encodings_take_apart(fact=fact, ids=[job.encoding.pk for job in jobs])

    def _encode(self, owner: Owner, strategy: ContextStrategy, plan: EncodingPlan, jobs: list[Job]) -> Outcome:
        """The first fact's outcome, or the header's where there is none. Raises EngineRefused too."""
        self._announce(owner, jobs)
        missing = [job.segment for job in jobs if self.blobs.find(job.segment, self.model.blob_fingerprint) is None]
        refused = set[str]()
        if missing:
            refused = {segment.key for segment in missing} - self._request(owner, strategy, plan, missing)
        return self._finish(owner, jobs, refused)

    def _announce(self, owner: Owner, jobs: Sequence[Job]) -> None:
        former = [(job.encoding.key, job.segment.key) for job in jobs if job.encoding.key]
        # Of attempts with another context, which ended before their end.
        self._forget(owner, [old for old, new in former if old != new])
        coming = [ComingBlob(job.encoding, job.segment.key, list(job.context), job.turns) for job in jobs]
        encodings_announce(tenant=owner.tenant, coming=coming)

    def _request(
        self, owner: Owner, strategy: ContextStrategy, plan: EncodingPlan, segments: list[PlannedSegment]
    ) -> frozenset[str]:
        """Keys of the segments that will be kept."""
        salt = cache_salt(
            settings.SALT_SECRET,
            tenant=str(owner.tenant_id),
            owner=str(owner.pk),
            kind="encode",
            strategy=strategy.name,
            epoch=owner.erasure_epoch,
        )
        params = EncodeParams(str(owner.tenant_id), tuple(segment.span for segment in segments))
        affinity = owner_affinity(tenant_id=owner.tenant_id, kind=owner.kind, name=owner.name)
        return self.port.encode(plan.token_ids, params, cache_salt=salt, affinity=affinity)

    def _finish(self, owner: Owner, jobs: list[Job], refused: set[str]) -> Outcome:
        """Whatever blobs came are served before BlobMissing is raised for the others."""
        expected = [job.segment for job in jobs if job.segment.key not in refused]
        found = self.blobs.wait_for(expected, self.model.blob_fingerprint)
        made = [
            MadeBlob(
                encoding=job.encoding,
                key=job.segment.key,
                digest=job.segment.digest,
                tokens=job.segment.tokens,
                bytes=found[job.segment.key].nbytes,
                fact_hash=job.fact_hash,
                context=job.context,
                turns=job.turns,
            )
            for job in jobs
            if job.segment.key in found
        ]
        served = encodings_mark_ready(tenant=owner.tenant, owner_id=owner.pk, blobs=made)
        self._forget(owner, [blob.key for blob in made if blob.encoding.pk not in served])
        if refused:
            raise BlobMissing(f"the engine did not accept {len(refused)} spans: is its connector on?")
        if absent := [segment.key for segment in expected if segment.key not in found]:
            raise BlobMissing(f"no blob of {len(absent)} of {len(jobs)} came, the first {absent[0]}")
        first = next((job for job in jobs if job.encoding.fact_id), jobs[0])
        return Outcome.READY if first.encoding.pk in served else Outcome.LOST

    def _forget(self, owner: Owner, keys: Sequence[str]) -> None:
        """Those that no encoding serves."""
        unserved = sorted(set(keys) - served_keys(tenant=owner.tenant, keys=keys)) if keys else []
        try:
            self.blobs.forget(unserved)
        except (EngineDown, EngineBroke):
            enqueue_many(FORGET_BLOB, [(key,) for key in unserved])

    def _failed(self, encoding: Encoding, reason: str) -> Outcome:
        logger.warning("encoding %s failed: %s", encoding.pk, reason)
        encoding_mark_failed(encoding=encoding, error=reason)
        return Outcome.FAILED

    def _keys(self, owner: Owner, strategy: ContextStrategy) -> KeySpace:
        return KeySpace(str(owner.tenant_id), str(owner.pk), self.model.blob_fingerprint, strategy.name)

    def _max_tokens(self) -> int:
        """One token is left for the answer that vLLM insists on."""
        try:
            limit = min(self.model.max_tokens, self.port.max_model_len())
        except (EngineDown, EngineBroke):
            limit = self.model.max_tokens
        return limit - 1


def _is_better(served: Encoding, chosen: Pass, strategy: ContextStrategy, least_new: float) -> bool:
    news = {row.id for row in chosen.context}.difference(served.context_fact_ids)
    return len(news) >= least_new * strategy.n > 0
