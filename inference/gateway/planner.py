"""From a client's body to the engine's: key, memory, prompt, injection, salt. Runs in a worker thread."""

import logging
import random
from collections.abc import Callable, Mapping
from time import perf_counter
from typing import Any
from uuid import UUID

import msgspec
from api.filters import FilterError, parse_filters
from django.conf import settings
from django.utils import timezone
from facts.embedding import query_embedding
from facts.models import Owner
from facts.selectors import facts_by_words, facts_matching, owner_get
from tenants.models import Tenant
from tenants.scope import tenant_scope

from inference.gateway.access import chat_key
from inference.gateway.candidates import Vector, choose_facts, without_repeats
from inference.gateway.errors import ApiError
from inference.gateway.fitting import FittedPrompt, fit_prompt, template_fields
from inference.gateway.injection import injectable_segments
from inference.gateway.options import MemoryOptions, parse_options
from inference.gateway.plan import Plan
from inference.gateway.runtime import Runtime
from inference.gateway.sanitize import ask_for_usage, client_body
from inference.gateway.snapshot import Entry, Snapshot
from memory.contracts import InjectParams, Segment
from memory.encoding import strategy_name, text_tail
from memory.keys import SaltKind, cache_salt
from memory.prompt.messages import is_text_only, last_user_text

MOST_BY_WORDS = 1000

logger = logging.getLogger(__name__)


def plan_request(runtime: Runtime, *, raw_key: str, raw_body: bytes, is_chat: bool) -> Plan:
    """Raises ApiError for the client's mistakes."""
    api_key = chat_key(raw_key)
    asked = parse_body(raw_body)
    options = parse_options(asked, user_enables=is_chat and api_key.user_field_enables_memory, top_k=settings.ENV.top_k)
    if options is not None and not is_chat:
        raise ApiError(400, "memory works with /v1/chat/completions", "memory")
    body = client_body(asked)
    hide_usage = ask_for_usage(body)
    with tenant_scope(api_key.tenant):
        if is_chat and options is not None:
            messages = chat_messages(body)
            return plan_memory(runtime, api_key.tenant, body, messages, options, hide_usage=hide_usage)
    name = options.scopes.owner_name if options else str(body.get("user") or "")
    body["cache_salt"] = _salt(api_key.tenant, f"user/{name}", "prompt", 0)
    return Plan(tenant_id=api_key.tenant.pk, body=body, owner_name=name, hide_usage=hide_usage)


def plan_memory(
    runtime: Runtime,
    tenant: Tenant,
    body: dict[str, Any],
    messages: list[dict[str, Any]],
    options: MemoryOptions,
    *,
    hide_usage: bool,
) -> Plan:
    """The chat with its owner's facts; plain when there are none."""
    started = perf_counter()
    scopes, question = options.scopes, last_user_text(messages)
    query = query_embedding(question) if question.strip() else None  # goes on while the database is asked
    owner = owner_get(tenant=tenant, scopes=scopes)
    snapshot, chosen = _retrieve(runtime, tenant, owner, question, query, options) if owner else (None, [])
    retrieval_ms = (perf_counter() - started) * 1000
    prompt = fit_prompt(runtime, body, messages, without_repeats(chosen)) if chosen else None
    segments: tuple[Segment, ...] = ()
    if prompt is not None and snapshot is not None:
        body["messages"] = prompt.messages
        if prompt.template_kwargs:
            body["chat_template_kwargs"] = {**(body.get("chat_template_kwargs") or {}), **prompt.template_kwargs}
        if options.mode == "auto" and runtime.may_inject and is_text_only(messages):
            tail = text_tail(tenant.strategy)
            segments = injectable_segments(runtime, prompt, snapshot.header, text_tail=tail)
    if segments:
        body["kv_transfer_params"] = InjectParams(str(tenant.pk), segments).to_params() | known_tokens(body, prompt)
    owner_key = f"{scopes.owner_kind}/{scopes.owner_name}"
    body["cache_salt"] = _salt(
        tenant, owner_key, "inject" if segments else "prompt", owner.erasure_epoch if owner else 0
    )
    return Plan(
        tenant_id=tenant.pk,
        body=body,
        mode="inject" if segments else "prompt" if prompt else "none",
        owner_name=scopes.owner_name,
        facts=len(prompt.entries) if prompt else 0,
        prompt_tokens=prompt.tokens if prompt else None,
        tokens_injected=sum(segment.tokens for segment in segments),
        retrieval_ms=retrieval_ms,
        hide_usage=hide_usage,
    )


def known_tokens(body: Mapping[str, Any], prompt: FittedPrompt | None) -> dict[str, list[int]]:
    """The prompt's ids for vLLM to take as they are (from 0.32 on; before, it renders and tokenises once more).

    Only for chats whose rendering depends on nothing but the messages: the golden check compares no others.
    """
    if prompt is None or prompt.composed is None or template_fields(body):
        return {}
    return {"prompt_token_ids": prompt.composed.token_ids}


def _retrieve(
    runtime: Runtime,
    tenant: Tenant,
    owner: Owner,
    question: str,
    query: Callable[[], Vector | None] | None,
    options: MemoryOptions,
) -> tuple[Snapshot, list[Entry]]:
    snapshot = runtime.snapshots.current(owner, strategy_name(tenant.strategy))
    if not len(snapshot):
        return snapshot, []
    allowed = None
    if options.filters is not None:
        try:
            condition = parse_filters(dict(options.filters))
        except FilterError as error:
            raise ApiError(400, str(error), "memory.filters") from error
        found = facts_matching(tenant=tenant, scopes=options.scopes, condition=condition)
        allowed = set(found.values_list("pk", flat=True))
    by_words: list[UUID] = []
    if query is not None and len(snapshot) > options.top_k:  # otherwise all are used, whatever their words
        by_words = facts_by_words(owner=owner, question=question, limit=MOST_BY_WORDS)
    vector = query() if query else None
    with snapshot.lock:
        chosen = choose_facts(
            snapshot,
            scopes=options.scopes,
            query=vector if vector is not None and len(vector) == snapshot.dim else None,
            top_k=options.top_k,
            now=timezone.now(),
            allowed_ids=allowed,
            by_words=by_words,
        )
    if options.order == "random":
        random.shuffle(chosen)
    return snapshot, chosen


def _salt(tenant: Tenant, owner: str, kind: SaltKind, epoch: int) -> str:
    names = {"tenant": str(tenant.pk), "owner": owner, "strategy": tenant.strategy}
    return cache_salt(settings.SALT_SECRET, kind=kind, epoch=epoch, **names)


def parse_body(raw: bytes) -> dict[str, Any]:
    try:
        body = msgspec.json.decode(raw)
    except (ValueError, RecursionError) as error:
        raise ApiError(400, f"the body is not valid JSON: {error}") from error
    if not isinstance(body, dict):
        raise ApiError(400, "the body must be a JSON object")
    return body


def chat_messages(body: dict[str, Any]) -> list[dict[str, Any]]:
    messages = body.get("messages")
    if not isinstance(messages, list) or not messages or not all(isinstance(message, dict) for message in messages):
        raise ApiError(400, "messages must be a list of at least one message object", "messages")
    return messages
