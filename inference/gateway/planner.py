"""From a client's body to the engine's: key, memory, prompt, injection, salt. Runs in a worker thread."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import msgspec
from django.conf import settings
from django.utils import timezone
from tenants.models import ApiKey, Tenant
from tenants.scope import tenant_scope

from inference.gateway.access import chat_key, check_may_write, count_chat
from inference.gateway.conversation import Conversation, conversation_of
from inference.gateway.draft import draft_chat
from inference.gateway.errors import ApiError
from inference.gateway.fitting import FittedPrompt, template_fields
from inference.gateway.options import MemoryOptions, parse_options
from inference.gateway.plan import Plan
from inference.gateway.runtime import Runtime
from inference.gateway.sanitize import ask_for_usage, client_body
from inference.gateway.stages import Stages
from memory.contracts import InjectParams
from memory.keys import SaltKind, cache_salt


def plan_request(
    runtime: Runtime,
    *,
    raw_key: str,
    raw_body: bytes,
    is_chat: bool,
    request_name: str = "",
    started: float | None = None,
) -> Plan:
    """`request_name`: what the client calls this request; `started`: a `perf_counter` of its arrival (now).

    Raises ApiError for the client's mistakes.
    """
    stages = Stages(started)
    stages.end("read")
    api_key = chat_key(raw_key)
    stages.end("key")
    asked = parse_body(raw_body)
    options = parse_options(asked, user_enables=is_chat and api_key.user_field_enables_memory, top_k=settings.ENV.top_k)
    if options is not None and not is_chat:
        raise ApiError(400, "memory works with /v1/chat/completions", "memory")
    body = client_body(asked)
    hide_usage = ask_for_usage(body)
    if options is not None:
        with tenant_scope(api_key.tenant):
            messages = chat_messages(body)
            conversation = _conversation(api_key, messages, options, request_name) if options.write else None
            count_chat(api_key.tenant)
            plan = plan_memory(runtime, api_key.tenant, body, messages, options, stages, hide_usage=hide_usage)
            return replace(plan, conversation=conversation)
    count_chat(api_key.tenant)
    name = str(body.get("user") or "")
    body["cache_salt"] = _salt(api_key.tenant, f"user/{name}", "prompt", 0)
    return Plan(tenant_id=api_key.tenant.pk, body=body, owner_name=name, hide_usage=hide_usage, stages=stages)


def plan_memory(
    runtime: Runtime,
    tenant: Tenant,
    body: dict[str, Any],
    messages: list[dict[str, Any]],
    options: MemoryOptions,
    stages: Stages,
    *,
    hide_usage: bool,
) -> Plan:
    """The chat with its owner's facts; plain when there are none."""
    draft = draft_chat(runtime, tenant, body, messages, options, stages)
    draft.keep_session()
    stages.end("session")
    prompt, injection, scopes = draft.prompt, draft.injection, options.scopes
    if prompt is not None:
        body["messages"] = prompt.messages
        if prompt.template_kwargs:
            body["chat_template_kwargs"] = {**(body.get("chat_template_kwargs") or {}), **prompt.template_kwargs}
    if injection.mismatched:
        runtime.count_mismatch(injection.mismatched_key, injection.mismatched)
    if segments := injection.segments:
        body["kv_transfer_params"] = InjectParams(str(tenant.pk), segments).to_params() | known_tokens(body, prompt)
    stages.end("segments")
    owner_key = f"{scopes.owner_kind}/{scopes.owner_name}"
    body["cache_salt"] = _salt(tenant, owner_key, "inject" if segments else "prompt", draft.epoch)
    return Plan(
        tenant_id=tenant.pk,
        body=body,
        mode=draft.mode,
        owner_name=scopes.owner_name,
        fact_ids=prompt.layout.fact_ids if prompt else (),
        facts_injected=injection.facts,
        prompt_tokens=prompt.tokens if prompt else None,
        tokens_injected=injection.tokens,
        retrieval_ms=draft.retrieval_ms,
        hide_usage=hide_usage,
        stages=stages,
        session=draft.session_state,
    )


def _conversation(
    api_key: ApiKey, messages: list[dict[str, Any]], options: MemoryOptions, request_name: str
) -> Conversation | None:
    """Raises ApiError when it may not be remembered."""
    check_may_write(api_key)
    return conversation_of(
        messages,
        tenant_id=api_key.tenant_id,
        key_id=api_key.pk,
        actor=f"key:{api_key.prefix}",
        scopes=options.scopes,
        said_at=timezone.now(),
        request_name=request_name,
    )


def known_tokens(body: Mapping[str, Any], prompt: FittedPrompt | None) -> dict[str, list[int]]:
    """The prompt's ids for vLLM to take as they are (from 0.32 on; before, it renders and tokenises once more).

    Only for chats whose rendering depends on nothing but the messages: the golden check compares no others.
    """
    if prompt is None or prompt.composed is None or template_fields(body):
        return {}
    return {"prompt_token_ids": prompt.composed.token_ids}


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
