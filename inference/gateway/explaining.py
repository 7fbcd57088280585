"""A chat explained without being answered: nothing is generated, kept, counted as a chat or recorded."""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from django.conf import settings
from facts.retrieval import Entry, Ranked
from tenants.models import Tenant
from tenants.scope import tenant_scope

from inference.gateway.access import chat_key
from inference.gateway.draft import Draft, draft_chat
from inference.gateway.errors import ApiError
from inference.gateway.explanation import (
    AsText,
    Explanation,
    LeftOut,
    OwnerSeen,
    PromptPart,
    PromptSeen,
    Ranking,
    Scores,
    UnusedFact,
    UsedFact,
)
from inference.gateway.fitting import FittedPrompt, plain_prompt, room_of
from inference.gateway.injection import Injection
from inference.gateway.options import MemoryOptions, parse_options
from inference.gateway.planner import chat_messages, parse_body
from inference.gateway.recall import Recalled
from inference.gateway.runtime import Runtime
from inference.gateway.sanitize import client_body
from inference.gateway.stages import Stages
from memory.encoding import text_tail
from memory.prompt import Piece

LEFT_OUT = 50  # facts that are told beside those used


def explain_request(runtime: Runtime, *, raw_key: str, raw_body: bytes) -> Explanation:
    """What a chat of this key with this body would use now. Raises ApiError."""
    api_key = chat_key(raw_key)
    asked = parse_body(raw_body)
    options = parse_options(asked, user_enables=api_key.user_field_enables_memory, top_k=settings.ENV.top_k)
    if options is None:
        raise ApiError(400, "a plan needs memory: name a user, agent, app or run, with mode auto or prompt", "memory")
    body = client_body(asked)
    with tenant_scope(api_key.tenant):
        return explain_chat(runtime, api_key.tenant, body, chat_messages(body), options)


def explain_chat(
    runtime: Runtime, tenant: Tenant, body: dict[str, Any], messages: list[dict[str, Any]], options: MemoryOptions
) -> Explanation:
    """In the tenant's scope."""
    draft = draft_chat(runtime, tenant, body, messages, options, Stages(), others=LEFT_OUT)
    recalled, prompt = draft.recalled, draft.prompt or plain_prompt(runtime, body, messages)
    known = {one.entry.fact_id: _scores(one) for one in _ranked(recalled)}
    candidates = recalled.choice.found.candidates if recalled.choice else 0
    return Explanation(
        mode=draft.mode,
        owner=OwnerSeen(facts=recalled.facts, candidates=candidates) if draft.owner else None,
        top_k=options.top_k,
        threshold=options.threshold,
        ranked_by=_ranking(recalled),
        facts=tuple(_used(draft, prompt, known, text_tail(tenant.strategy))),
        left_out=tuple(_left_out(recalled, set(prompt.layout.fact_ids), known))[:LEFT_OUT],
        prompt=PromptSeen(
            tokens=prompt.tokens,
            tokens_injected=draft.injection.tokens,
            room=room_of(runtime, body),
            parts=tuple(_parts(prompt, draft.injection)),
        ),
        session=draft.session_state,
        retrieval_ms=draft.retrieval_ms,
    )


def _ranked(recalled: Recalled) -> list[Ranked]:
    return [*recalled.choice.found.ranked, *recalled.choice.found.below] if recalled.choice else []


def _ranking(recalled: Recalled) -> Ranking:
    ranked = _ranked(recalled)
    if not ranked:
        return "age"
    if any(one.relevance is not None for one in ranked):
        return "reranker"
    return "vectors and words" if any(one.word_rank for one in ranked) else "vectors"


def _scores(one: Ranked) -> Scores:
    return Scores(cosine=one.score, rank=one.rank, word_rank=one.word_rank, fused=one.fused, relevance=one.relevance)


def _used(draft: Draft, prompt: FittedPrompt, known: dict[UUID, Scores], tail: int) -> Iterator[UsedFact]:
    """The best first; what the session brought and the question would not have found comes last."""
    layout = prompt.layout
    sizes = [len(span) for span in prompt.composed.lines] if prompt.composed else []
    best = [entry.fact_id for entry in reversed(draft.recalled.choice.entries)] if draft.recalled.choice else []
    order = {fact_id: rank for rank, fact_id in enumerate(best)}
    places = sorted(enumerate(layout.entries), key=lambda pair: order.get(pair[1].fact_id, len(order)))
    for place, entry in places:
        is_injected = place < draft.injection.facts
        yield UsedFact(
            **_about(entry, known),
            position=place + 1,
            tokens=sizes[place] if place < len(sizes) else None,
            use="injected" if is_injected else "text",
            reason=None if is_injected else _as_text(entry, place, len(layout.block), tail, draft.injection),
        )


def _as_text(entry: Entry, place: int, block: int, tail: int, injection: Injection) -> AsText:
    if place >= block:
        return "joined"
    if entry.segment is None:
        return "kv"
    if injection.stop in (None, "tokens") and place >= block - tail:
        return "tail"
    return injection.stop or "kv"


def _left_out(recalled: Recalled, used: set[UUID], known: dict[UUID, Scores]) -> Iterator[UnusedFact]:
    if recalled.choice is None:
        return
    chosen = {entry.fact_id for entry in recalled.chosen}
    for entry in reversed(recalled.choice.entries):
        if entry.fact_id not in used:
            reason: LeftOut = "length" if entry.fact_id in chosen else "repeat"
            yield UnusedFact(**_about(entry, known), reason=reason)
    lost: Sequence[tuple[Entry, LeftOut]] = [(entry, "top_k") for entry in recalled.choice.lost]
    below: Sequence[tuple[Entry, LeftOut]] = [(one.entry, "threshold") for one in recalled.choice.found.below]
    for entry, why in (*lost, *below):
        if entry.fact_id not in used:  # a session may hold it
            yield UnusedFact(**_about(entry, known), reason=why)


def _about(entry: Entry, known: dict[UUID, Scores]) -> dict[str, Any]:
    return {
        "id": entry.fact_id,
        "text": entry.text,
        "has_kv": entry.segment is not None,
        "has_vector": entry.embedded,
        "scores": known.get(entry.fact_id, Scores()),
    }


def _parts(prompt: FittedPrompt, injection: Injection) -> Iterator[PromptPart]:
    facts = iter(prompt.layout.block)
    pieces: Sequence[Piece] = prompt.composed.pieces if prompt.composed else ()
    for place, piece in enumerate(pieces):  # the header first, then facts
        yield PromptPart(
            kind=piece.kind,
            text=piece.text,
            tokens=piece.tokens,
            injected=place < len(injection.segments),
            fact_id=next(facts).fact_id if piece.kind == "fact" else None,
        )
