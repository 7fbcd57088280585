"""What clients say to the engine's private fields has no effect."""

from typing import Any
from uuid import uuid4

import pytest

from memory.contracts import EncodeParams, InjectParams, Span
from memory.store import BlobStore
from tests.stack.app import LONG, App, Reply
from tests.stack.by_hand import inject_by_hand, segments_in

pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True)]
FACTS = ("Alice has a cat called Pepper.", "Alice lives in Lisbon with her family.")
QUESTION = "What is the name of Alice's cat?"


@pytest.mark.parametrize("where", ["kv_transfer_params", "vllm_xargs", "extra_args"])
def test_keys_of_another_tenant_inject_nothing(app: App, other_app: App, tokenizer: Any, where: str) -> None:
    """Even by one who knows the keys, the digests and the whole prompt."""
    other_app.remember("alice", *FACTS)
    other_app.until_encoded("alice")
    theirs = other_app.ask("alice", QUESTION)
    segments = segments_in(theirs.prompt_ids, other_app.encodings("alice"))
    assert inject_by_hand(other_app, theirs.prompt_ids, segments) >= theirs.injected > 0
    params = InjectParams(str(other_app.tenant.pk), tuple(segments)).to_params()
    forged = {where: params if where == "kv_transfer_params" else {"kv_transfer_params": params}}
    reply = app.chat(QUESTION, messages=messages_of(theirs, tokenizer), **forged)
    assert reply.prompt_ids == theirs.prompt_ids
    assert reply.cached_tokens == 0
    assert reply.body.get("kv_transfer_params") is None


def test_a_salt_of_ones_own_reaches_no_other_tenants_blocks(app: App, other_app: App) -> None:
    for caller in (app, other_app):
        first, again = (caller.chat(LONG, cache_salt="shared", priority=-1) for _ in range(2))
        assert (first.cached_tokens, again.cached_tokens > 0) == (0, True)


@pytest.mark.parametrize("path", ["chat/completions", "completions"])
def test_encode_params_leave_nothing_in_the_store(app: App, store: BlobStore, path: str) -> None:
    key = uuid4().hex * 2
    body: dict[str, Any] = {"model": app.model, "max_tokens": 1, "cache_salt": "mine"}
    body |= {"messages": [{"role": "user", "content": LONG}]} if path.startswith("chat") else {"prompt": LONG}
    params = EncodeParams(str(app.tenant.pk), (Span(key, 0, 20),)).to_params()
    reply = Reply(app.engine_api("POST", f"/v1/{path}", json={**body, "kv_transfer_params": params}))
    assert reply.response.status_code == 200
    assert reply.body.get("kv_transfer_params") is None
    app.remember("alice", FACTS[0])
    app.until_encoded("alice")  # whatever was to be written before is written by now
    assert not store.exists(key)


def messages_of(reply: Reply, tokenizer: Any) -> list[dict[str, str]]:
    """The messages that its prompt was rendered from."""
    parts = tokenizer.decode(reply.prompt_ids).split("<|im_start|>")[1:-1]
    pairs = [part.removesuffix("<|im_end|>\n").split("\n", 1) for part in parts]
    return [{"role": role, "content": content} for role, content in pairs]
