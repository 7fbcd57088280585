"""Storing what was found in a conversation so that memory stays true."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from django.utils import timezone
from tenants.scope import tenant_scope

from facts.embedding import embed_texts
from facts.inputs import FoundFact
from facts.models import Event, EventStatus, Extraction, Fact, FactHistory, FactStatus, Owner
from facts.selectors.extractions import cosine_of
from facts.selectors.rivals import Rival, exactly, rivals_of
from facts.services.change import (
    drop_stale_on_commit,
    encode_on_commit,
    owner_locked,
    owner_touch,
    retire,
    supersede,
)
from facts.services.events import event_finish
from facts.services.quota import check_stored
from facts.text import text_hash
from facts.truth import CLAIM_VERSION, Relation, across_runs, claim_key, compare

Judged = Mapping[tuple[str, str], Relation]
TICK = timedelta(microseconds=1)


@dataclass
class _Outcome:
    """`added` in their order; `replaced` gives the newer fact for each that no longer holds, an added one perhaps."""

    added: list[Fact] = field(default_factory=list)
    replaced: dict[Fact, Fact] = field(default_factory=dict)
    prolonged: list[Fact] = field(default_factory=list)
    results: list[dict[str, str]] = field(default_factory=list)

    @property
    def changes(self) -> int:
        return len(self.added) + len(self.replaced) + len(self.prolonged)

    def replace(self, old: Fact, new: Fact) -> None:
        self.replaced[old] = new
        self.results.append({"id": str(old.pk), "event": "DELETE", "superseded_by": str(new.pk)})


def facts_remember(
    *,
    extraction: Extraction,
    found: Sequence[FoundFact],
    judged: Judged | None = None,
    prompt_tokens: int = 0,
    output_tokens: int = 0,
) -> Event | None:
    """End the extraction with these facts; None when it has ended already or was called off.

    What is there already is not stored again, unless the new fact says more; what contradicts a stored fact supersedes
    it, if it holds from a later time; the older of the two is kept as history. An immutable fact stays, and a fact that
    expires supersedes none that outlives it. In the owner's other runs only contradictions count. `judged` tells, by
    both texts' hashes, what rules cannot.

    Raises QuotaExceededError when the tenant has no room for them; nothing is stored then.
    """
    texts = [fact.text for fact in found]
    vectors = embed_texts(texts, model=extraction.tenant.embedding_model)
    with tenant_scope(extraction.tenant), owner_locked(extraction.owner_id) as owner:
        event = Event.objects.select_for_update().filter(pk=extraction.pk, status=EventStatus.RUNNING).first()
        if event is None:
            return None
        now = timezone.now()
        outcome = _Outcome()
        if extraction.expires_at is None or extraction.expires_at > now:
            _make_room(owner, extraction, texts, now=now)
            outcome = _decide(owner, extraction, found, vectors, judged or {}, now=now)
            _write(owner, outcome, actor=extraction.actor)
            if len(outcome.added) > len(outcome.replaced):
                check_stored(owner.tenant_id)
        event_finish(event, results=outcome.results)
        Extraction.objects.filter(pk=extraction.pk).update(
            prompt_tokens=prompt_tokens, output_tokens=output_tokens, updated_at=now
        )
    return event


def _make_room(owner: Owner, extraction: Extraction, texts: Sequence[str], *, now: datetime) -> None:
    """An expired fact of the same text must not stand in the way of one that holds again."""
    hashes = [text_hash(text) for text in texts]
    twins = Fact.objects.filter(owner=owner, status=FactStatus.ACTIVE, hash__in=hashes, **exactly(extraction.scopes))
    expired = list(twins.filter(expires_at__lte=now))
    if expired:
        stale = retire(owner, expired, seq=owner_touch(owner, erases=True), actor=extraction.actor)
        encode_on_commit(owner, stale.dependents)
        drop_stale_on_commit(owner)


def _decide(
    owner: Owner,
    extraction: Extraction,
    found: Sequence[FoundFact],
    vectors: Sequence[bytes | None],
    judged: Judged,
    *,
    now: datetime,
) -> _Outcome:
    outcome = _Outcome()
    texts = [fact.text for fact in found]
    stored = rivals_of(
        owner=owner,
        scopes=extraction.scopes,
        texts=texts,
        vectors=vectors,
        embedding_model=extraction.tenant.embedding_model,
    )
    for i, (given, vector, rivals) in enumerate(zip(found, vectors, stored, strict=True)):
        fact = _fact(owner, extraction, given, vector, created_at=now + TICK * i)
        own = [Rival(earlier, cosine_of(_vector(earlier), vector)) for earlier in outcome.added]
        related = [(rival.fact, _relation(rival, fact, judged)) for rival in (*rivals, *own)]
        _place(outcome, fact, [(old, relation) for old, relation in related if old not in outcome.replaced])
    return outcome


def _place(outcome: _Outcome, fact: Fact, related: Sequence[tuple[Fact, Relation]]) -> None:
    same = next((old for old, relation in related if relation is Relation.SAME), None)
    if same is not None:
        _say_again(outcome, same, fact)
        return
    against = [old for old, relation in related if relation is Relation.CONTRADICTS]
    if fixed := next((old for old in against if old.immutable), None):
        outcome.results.append({"id": str(fixed.pk), "event": "NONE", "reason": "immutable"})
        return
    outcome.added.append(fact)
    outcome.results.append({"id": str(fact.pk), "event": "ADD"})
    against = [old for old in against if _outlives(fact, old)]
    if later := next((old for old in against if old.valid_from > fact.valid_from), None):
        outcome.replace(fact, later)
        return
    refined = [old for old, relation in related if relation is Relation.REFINES and not old.immutable]
    for old in (*against, *(old for old in refined if _outlives(fact, old))):
        outcome.replace(old, fact)


def _say_again(outcome: _Outcome, old: Fact, fact: Fact) -> None:
    """What is said again holds for as long as it would if it were new."""
    is_longer = old.expires_at is not None and _outlives(fact, old) and fact.expires_at != old.expires_at
    if is_longer and not old.immutable:
        old.expires_at = fact.expires_at
        if old not in outcome.added and old not in outcome.prolonged:
            outcome.prolonged.append(old)
    event = "UPDATE" if old in outcome.prolonged else "NONE"
    outcome.results.append({"id": str(old.pk), "event": event})


def _outlives(fact: Fact, old: Fact) -> bool:
    """Whether it holds at least as long as the old one."""
    return fact.expires_at is None or (old.expires_at is not None and old.expires_at <= fact.expires_at)


def _relation(rival: Rival, fact: Fact, judged: Judged) -> Relation:
    relation = compare(rival.fact.text, fact.text, rival.cosine)
    if relation is Relation.UNSURE:
        relation = judged.get((rival.fact.hash, fact.hash), Relation.DIFFERENT)
    return relation if rival.fact.run_id == fact.run_id else across_runs(relation)


def _fact(
    owner: Owner, extraction: Extraction, given: FoundFact, vector: bytes | None, *, created_at: datetime
) -> Fact:
    details: dict[str, Any] = extraction.scopes.named
    return Fact(
        tenant_id=owner.tenant_id,
        owner=owner,
        text=given.text,
        hash=text_hash(given.text),
        claim_key=claim_key(given.text),
        claim_version=CLAIM_VERSION,
        metadata=extraction.metadata,
        categories=list(dict.fromkeys([*extraction.categories, *given.categories])),
        expires_at=extraction.expires_at,
        immutable=extraction.immutable,
        source_turn_id=given.turn_id,
        source_event_id=extraction.pk,
        embedding=vector,
        embedding_model=extraction.tenant.embedding_model if vector else "",
        occurred_at=given.happened_at,
        created_at=created_at,
        updated_at=created_at,
        **details,
    )


def _write(owner: Owner, outcome: _Outcome, *, actor: str) -> None:
    if not outcome.changes:
        return
    last = owner_touch(owner, changes=outcome.changes, erases=bool(outcome.replaced))
    first = last - outcome.changes + 1
    for i, fact in enumerate((*outcome.added, *outcome.prolonged)):
        fact.seq = first + i
    dependents: tuple[UUID, ...] = ()
    if outcome.replaced:  # first, for what is added may say what a replaced one said
        dependents = supersede(owner, outcome.replaced, seq=last, actor=actor).dependents
        drop_stale_on_commit(owner)
    Fact.objects.bulk_create(outcome.added)
    Fact.objects.bulk_update(outcome.prolonged, ["expires_at", "seq"])
    FactHistory.objects.bulk_create(
        [
            *(_entry(fact, FactHistory.Kind.ADD, actor) for fact in outcome.added),
            *(_entry(fact, FactHistory.Kind.UPDATE, actor, old_text=fact.text) for fact in outcome.prolonged),
        ]
    )
    holding = [fact.pk for fact in outcome.added if fact not in outcome.replaced]
    encode_on_commit(owner, list(dict.fromkeys([*holding, *dependents])))


def _entry(fact: Fact, kind: FactHistory.Kind, actor: str, *, old_text: str = "") -> FactHistory:
    entry = FactHistory(fact_id=fact.pk, tenant_id=fact.tenant_id, event=kind, actor=actor)
    entry.old_text, entry.new_text = old_text, fact.text
    if kind is FactHistory.Kind.ADD:  # before the end of one that is replaced at once
        entry.created_at = fact.created_at
    return entry


def _vector(fact: Fact) -> bytes | None:
    return None if fact.embedding is None else bytes(fact.embedding)
