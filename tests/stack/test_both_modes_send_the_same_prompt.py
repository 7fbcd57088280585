"""Injection only skips the prefill of a prefix: the prompt is the text that prompt injection would send."""

from typing import Any

import pytest

from inference.demo.script import conversation
from tests.stack.app import App, Reply
from tests.stack.conftest import new_app
from tests.stack.stack import Stack

pytestmark = [pytest.mark.engine, pytest.mark.django_db(transaction=True)]
FACTS = [fact for turn in conversation() for fact in turn.facts][:16]
QUESTION, EXPECTED = "What is the name of Nora's cat?", "Pepper"
BESIDE_SYSTEM_AND_HISTORY = [
    {"role": "system", "content": "You are a helpful assistant. Answer in one short sentence."},
    {"role": "user", "content": "Hello!"},
    {"role": "assistant", "content": "Hello! How can I help you?"},
    {"role": "user", "content": QUESTION},
]


@pytest.fixture(scope="module")
def reader(stack: Stack) -> App:
    """Its user's facts are encoded."""
    app = new_app(stack)
    app.remember("nora", *FACTS)
    app.until_encoded("nora")
    return app


def test_the_golden_check_passed(stack: Stack) -> None:
    assert stack.golden() == "passed"


@pytest.mark.parametrize("body", [{}, {"messages": BESIDE_SYSTEM_AND_HISTORY}], ids=["question", "system and history"])
def test_token_ids_are_equal(reader: App, body: dict[str, Any]) -> None:
    inject, prompt = both_modes(reader, **body)
    assert inject.prompt_ids == prompt.prompt_ids
    assert inject.prompt_tokens == prompt.prompt_tokens == len(inject.prompt_ids)
    assert inject.facts == prompt.facts == len(FACTS)


def test_both_answers_use_the_facts(reader: App) -> None:
    assert all(EXPECTED in reply.text for reply in both_modes(reader))


def test_nearly_all_before_the_question_is_injected(reader: App, tokenizer: Any) -> None:
    inject, _ = both_modes(reader)
    text = tokenizer.decode(inject.prompt_ids)
    before = len(tokenizer.encode(text[: text.rindex(QUESTION)], add_special_tokens=False))
    assert 0.95 * before <= inject.injected <= before
    assert inject.cached_tokens >= inject.injected


def both_modes(app: App, **body: Any) -> tuple[Reply, Reply]:
    inject, prompt = (app.ask("nora", QUESTION, mode=mode, **body) for mode in ("auto", "prompt"))
    assert (inject.mode, prompt.mode) == ("inject", "prompt")
    assert prompt.injected == 0
    return inject, prompt
