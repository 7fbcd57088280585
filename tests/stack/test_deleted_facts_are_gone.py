"""What is deleted or changed is in no later prompt, search or blob, nor in blobs computed from it."""

from collections.abc import Iterable
from typing import Any
from uuid import UUID

import pytest
from facts.models import Encoding

from memory.store import BlobStore
from tests.stack.app import LONG, App, stored
from tests.stack.by_hand import inject_by_hand, segments_in
from tests.stack.stack import Stack

pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True)]
FIRST, SECRET, *LATER = (
    "Alice lives in Lisbon with her family.",
    "Alice has a cat called Pepper.",
    "Alice works as a nurse in the harbour.",
    "Alice plays the accordion.",
)
CHANGED = "Alice has a cat called Ginger."
QUESTION, EXPECTED = "Which instrument does Alice play?", "accordion"
ABOUT_THE_SECRET = "What is the name of Alice's cat?"


@pytest.fixture
def ids(app: App) -> list[str]:
    """Encoded and used: in the gateway's snapshot, in the engine's memory and in its prefix cache."""
    ids = app.remember("alice", FIRST, SECRET, *LATER)
    app.until_encoded("alice")
    for mode in ("auto", "prompt"):
        assert "Pepper" in app.ask("alice", ABOUT_THE_SECRET, mode=mode).text
    return ids


def test_the_next_prompt_is_without_it(app: App, stack: Stack, tokenizer: Any, ids: list[str]) -> None:
    with stack.worker_paused():
        app.forget(ids[1])
        for mode in ("auto", "prompt"):
            for question in (ABOUT_THE_SECRET, QUESTION):
                reply = app.ask("alice", question, mode=mode)
                assert reply.facts == 3
                assert "Pepper" not in tokenizer.decode(reply.prompt_ids)
                assert "Pepper" not in reply.text


def test_what_was_computed_from_it_is_text_until_it_is_encoded_again(app: App, stack: Stack, ids: list[str]) -> None:
    encodings = app.encodings("alice")
    assert all(UUID(ids[1]) in encodings[UUID(later)].context_fact_ids for later in ids[2:])
    with stack.worker_paused():
        app.forget(ids[1])
        reply = app.ask("alice", QUESTION)
        assert reply.injected == tokens_of([encodings[None], encodings[UUID(ids[0])]])
        assert reply.cached_tokens == reply.injected
        assert EXPECTED in reply.text
    app.until_encoded("alice")
    after = app.ask("alice", QUESTION)
    assert after.injected == tokens_of(app.encodings("alice").values()) > reply.injected
    assert EXPECTED in after.text


def test_blocks_computed_from_it_are_out_of_reach(app: App, stack: Stack) -> None:
    """Even for the same prompt: stored again, it is computed again."""
    with stack.worker_paused():
        *_, last = app.remember("alice", FIRST, SECRET, *LATER)
        first, again = app.ask("alice", LONG, mode="prompt"), app.ask("alice", LONG, mode="prompt")
        assert (first.cached_tokens, again.cached_tokens > 0) == (0, True)
        app.forget(last)
        app.remember("alice", LATER[-1])
        anew = app.ask("alice", LONG, mode="prompt")
        assert anew.prompt_ids == first.prompt_ids
        assert anew.cached_tokens == 0


def test_no_search_or_call_finds_it(app: App, ids: list[str]) -> None:
    app.forget(ids[1])
    assert set(app.search("cat called Pepper", "alice").values()) == {FIRST, *LATER}
    assert app.memory_api("GET", f"/v1/memories/{ids[1]}/").status_code == 404


def test_its_blob_and_those_computed_from_it_leave_the_store(app: App, store: BlobStore, ids: list[str]) -> None:
    before = app.encodings("alice")
    app.forget(ids[1])
    app.until_encoded("alice")
    after = app.encodings("alice")
    gone = {before[UUID(fact_id)].key for fact_id in ids[1:]}
    assert len(gone) == 3
    assert not stored(store, gone)
    assert not gone & app.keys("alice")
    assert all(UUID(ids[1]) not in encoding.context_fact_ids for encoding in after.values())
    assert stored(store, app.keys("alice")) == app.keys("alice")
    for kept in (None, UUID(ids[0])):
        assert after[kept].key == before[kept].key


def test_the_engine_cannot_inject_them_even_by_the_workers_key(app: App, ids: list[str]) -> None:
    prompt = app.ask("alice", QUESTION).prompt_ids
    segments = segments_in(prompt, app.encodings("alice"))
    assert len(segments) == 5
    assert inject_by_hand(app, prompt, segments) >= sum(segment.tokens for segment in segments)
    kept = app.encodings("alice")[None].key, app.encodings("alice")[UUID(ids[0])].key
    app.forget(ids[1])
    app.until_encoded("alice")
    left = 0
    for segment in segments:
        if segment.key not in kept:
            break
        left += segment.tokens
    assert inject_by_hand(app, prompt, segments) == left


def test_a_changed_fact_is_as_gone_as_a_deleted_one(
    app: App, stack: Stack, store: BlobStore, tokenizer: Any, ids: list[str]
) -> None:
    before = app.encodings("alice")
    with stack.worker_paused():
        app.change(ids[1], CHANGED)
        as_text = app.ask("alice", ABOUT_THE_SECRET)
        assert as_text.facts == 4
        assert as_text.injected == tokens_of([before[None], before[UUID(ids[0])]])
    app.until_encoded("alice")
    injected = app.ask("alice", ABOUT_THE_SECRET)
    assert injected.injected == tokens_of(app.encodings("alice").values())
    for reply in (as_text, injected):
        assert "Pepper" not in tokenizer.decode(reply.prompt_ids)
        assert "Ginger" in reply.text
    assert set(app.search("cat called Pepper", "alice").values()) == {FIRST, CHANGED, *LATER}
    assert not stored(store, {before[UUID(fact_id)].key for fact_id in ids[1:]})


def test_all_of_a_user_can_be_deleted(app: App, store: BlobStore, ids: list[str]) -> None:
    keys = app.keys("alice") - {app.encodings("alice")[None].key}
    app.memory_api("DELETE", "/v1/memories/?user_id=alice").raise_for_status()
    reply = app.ask("alice", ABOUT_THE_SECRET)
    assert (reply.mode, reply.facts, reply.cached_tokens) == ("none", 0, 0)
    assert "Pepper" not in reply.text
    assert app.search("cat", "alice") == {}
    app.until_encoded("alice")
    assert len(keys) == len(ids)
    assert not stored(store, keys)


def tokens_of(encodings: Iterable[Encoding]) -> int:
    return sum(encoding.tokens or 0 for encoding in encodings)
