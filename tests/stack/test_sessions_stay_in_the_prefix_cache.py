"""A conversation's prompt only grows: the engine computes the new turn, whatever was stored meanwhile."""

from typing import Any

import pytest

from tests.stack.app import LONG, App, Reply

pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True)]
FACTS = ("Alice lives in Lisbon.", "Alice works as a nurse.", "Alice plays the accordion.", "Alice rides a bicycle.")
NEW = "Alice has a cat called Pepper."
QUESTIONS = (f"{LONG}Where does Alice live?", "What is the name of Alice's cat?", "And what does she play?")
BLOCK = 128  # tokens; the prefix cache holds whole blocks


def turn(app: App, history: list[dict[str, Any]], question: str, *, mode: str) -> Reply:
    messages = [*history, {"role": "user", "content": question}]
    return app.ask("alice", question, mode=mode, messages=messages)


def test_each_turn_finds_the_ones_before_in_either_mode(app: App, tokenizer: Any) -> None:
    app.remember("alice", *FACTS)
    app.until_encoded("alice")
    history: list[dict[str, Any]] = []
    before: list[int] = []
    for number, question in enumerate(QUESTIONS):
        auto, prompt = (turn(app, history, question, mode=mode) for mode in ("auto", "prompt"))
        assert auto.prompt_ids == prompt.prompt_ids
        assert auto.prompt_ids[: len(before)] == before
        assert (auto.mode, prompt.mode) == ("inject", "prompt")
        for reply in (auto, prompt):
            assert reply.response.headers["x-inferscale-session"] == ("kept" if number else "new")
            assert reply.cached_tokens >= len(before) - BLOCK
        if number == 0:
            app.remember("alice", NEW)
        before = auto.prompt_ids
        history += [{"role": "user", "content": question}, {"role": "assistant", "content": auto.text}]
    assert tokenizer.decode(before).count(NEW) == 1


def test_a_deleted_fact_ends_it_at_once(app: App, tokenizer: Any) -> None:
    (lisbon, *_) = app.remember("alice", *FACTS)
    first = turn(app, [], QUESTIONS[0], mode="auto")
    app.forget(lisbon)
    history = [{"role": "user", "content": QUESTIONS[0]}, {"role": "assistant", "content": "I see."}]
    second = turn(app, history, "Where does she live?", mode="auto")
    assert FACTS[0] in tokenizer.decode(first.prompt_ids)
    assert FACTS[0] not in tokenizer.decode(second.prompt_ids)
    assert second.response.headers["x-inferscale-session"] == "new"
    assert second.cached_tokens <= second.injected
