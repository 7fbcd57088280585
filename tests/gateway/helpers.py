"""Facts with KV, keys, and chats as a client sends them."""

import json
from typing import Any

from django.db import connections
from facts.models import Fact, Owner
from facts.services import MadeBlob, encoding_start, encodings_mark_ready
from tenants.models import Tenant
from tenants.services import api_key_create

from inference.gateway import threads
from inference.gateway.plan import Plan
from inference.gateway.planner import plan_request
from inference.gateway.runtime import Runtime
from memory.contracts import InjectParams, Segment, parse_params
from memory.digest import token_digest
from memory.encoding import parse_stages
from memory.prompt import encode_prompt, header_prompt
from tests.factories import blob_key_of

QUESTION = "Where does Bob live?"


def chat_key_of(tenant: Tenant, **options: Any) -> str:
    return api_key_create(tenant=tenant, name="app", **options)[1]


def close_connections() -> None:
    """The test database cannot go while a thread of the gateway is connected."""
    for _ in range(threads.THREADS):
        threads._pool.submit(connections.close_all).result()


def ask(runtime: Runtime, key: str, *, is_chat: bool = True, **body: Any) -> Plan:
    asked = {"model": "m", "messages": [{"role": "user", "content": QUESTION}], **body}
    return plan_request(runtime, raw_key=key, raw_body=json.dumps(asked).encode(), is_chat=is_chat)


def make_ready(runtime: Runtime, *facts: Fact) -> list[str]:
    """Encodings of the header and these facts, with the tokens the model really has for them; their keys."""
    owner, strategy = facts[0].owner, parse_stages(facts[0].tenant.strategy).best.name
    header = header_prompt(runtime.template)
    keys = [_ready(runtime, owner, strategy, header.token_ids, "")]
    for fact in facts:
        prompt = encode_prompt(runtime.template, (), [runtime.template.line(fact.text)])
        keys.append(_ready(runtime, fact, strategy, prompt.lines[0].of(prompt.token_ids), fact.hash))
    return keys


def _ready(runtime: Runtime, thing: Fact | Owner, strategy: str, ids: list[int], fact_hash: str) -> str:
    encoding = encoding_start(fact_or_owner=thing, fingerprint=runtime.model.fingerprint, strategy=strategy)
    key = blob_key_of(f"{type(thing).__name__} {thing.pk} {fact_hash}")
    blob = MadeBlob(encoding, key, digest=token_digest(ids), tokens=len(ids), bytes=1, fact_hash=fact_hash)
    served = encodings_mark_ready(tenant=encoding.tenant, owner_id=encoding.owner_id, blobs=[blob])
    assert served, "the encoding was lost"
    return key


def prompt_text(plan: Plan) -> str:
    return "\n".join(message["content"] for message in plan.body["messages"])


def facts_in(plan: Plan) -> list[str]:
    return [line.removeprefix("- ") for line in prompt_text(plan).splitlines() if line.startswith("- ")]


def injected_keys(plan: Plan) -> list[str]:
    return [segment.key for segment in injected_segments(plan)]


def injected_segments(plan: Plan) -> tuple[Segment, ...]:
    params = parse_params(plan.body.get("kv_transfer_params"))
    return params.segments if isinstance(params, InjectParams) else ()
