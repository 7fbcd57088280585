"""A fact is in the next answer: as text at first, injected once it is encoded."""

import pytest

from tests.stack.app import App
from tests.stack.stack import Stack

pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True)]
OTHERS = ("Alice lives in Lisbon.", "Alice works as a nurse.", "Alice plays the accordion.")
FACT, QUESTION, EXPECTED = "Alice has a cat called Pepper.", "What is the name of Alice's cat?", "Pepper"


def test_before_it_is_encoded_it_is_sent_as_text(app: App, stack: Stack) -> None:
    with stack.worker_paused():
        app.remember("alice", FACT)
        reply = app.ask("alice", QUESTION)
    assert (reply.mode, reply.facts, reply.injected) == ("prompt", 1, 0)
    assert EXPECTED in reply.text


def test_once_encoded_it_is_injected(app: App) -> None:
    app.remember("alice", FACT)
    app.until_encoded("alice")
    reply = app.ask("alice", QUESTION)
    assert (reply.mode, reply.facts) == ("inject", 1)
    assert 0 < reply.injected <= reply.cached_tokens < reply.prompt_tokens
    assert EXPECTED in reply.text


def test_it_follows_those_with_kv_and_then_joins_them(app: App, stack: Stack) -> None:
    app.remember("alice", *OTHERS)
    app.until_encoded("alice")
    before = app.ask("alice", QUESTION)
    with stack.worker_paused():
        app.remember("alice", FACT)
        mixed = app.ask("alice", QUESTION)
    assert (mixed.mode, mixed.facts, mixed.injected) == ("inject", 4, before.injected)
    assert EXPECTED in mixed.text
    app.until_encoded("alice")
    after = app.ask("alice", QUESTION)
    assert (after.mode, after.facts, after.prompt_tokens) == ("inject", 4, mixed.prompt_tokens)
    assert before.injected < after.injected <= after.cached_tokens
    assert EXPECTED in after.text
