"""A template that prints the date: the header keeps a fixed one, the real one follows the facts."""

from datetime import date

import pytest

from memory.prompt.compose import compose_prompt
from memory.prompt.template import ChatTemplate
from tests.memory.prompt.templates import CHATML, CLOCK, LLAMA_3
from tests.memory.prompt.tokenizers import metaspace_tokenizer

ASK = [{"role": "user", "content": "What day is it?"}]
LINES = ["- Alice likes tea.\n"]


def rendered(template: ChatTemplate, **kwargs: object) -> str:
    prompt = compose_prompt(template, ASK, LINES, today=date(2031, 5, 9), **kwargs)
    return str(template.tokenizer.decode(prompt.token_ids))


@pytest.mark.parametrize(
    ("source", "fixed", "real"),
    [(LLAMA_3, "26 Jul 2024", "09 May 2031"), (CLOCK, "26 July 2024", "09 May 2031")],
    ids=["by argument", "by shadowing the clock"],
)
def test_the_header_has_a_fixed_date_and_the_real_one_follows_the_facts(source: str, fixed: str, real: str) -> None:
    template = ChatTemplate(metaspace_tokenizer(), source)
    text = rendered(template)
    assert fixed in template.header
    assert text.startswith(template.header)
    assert text.index("End of memories.") < text.index(f"Today's date: {real}")


def test_the_argument_that_fixes_the_date_goes_to_the_server_too() -> None:
    template = ChatTemplate(metaspace_tokenizer(), LLAMA_3)
    prompt = compose_prompt(template, ASK, LINES)
    assert (prompt.template_kwargs, template.source_is_pinned) == ({"date_string": "26 Jul 2024"}, False)


def test_a_template_with_a_clock_of_its_own_needs_another_source() -> None:
    template = ChatTemplate(metaspace_tokenizer(), CLOCK)
    assert template.source_is_pinned
    assert template.source.endswith(CLOCK)


def test_a_date_given_by_the_client_follows_the_facts() -> None:
    text = rendered(ChatTemplate(metaspace_tokenizer(), LLAMA_3), date_string="1 Jan 1999")
    assert text.index("End of memories.") < text.index("Today's date: 1 Jan 1999")


def test_a_template_without_date_gets_none() -> None:
    template = ChatTemplate(metaspace_tokenizer(), CHATML)
    assert "date" not in rendered(template)
    assert compose_prompt(template, ASK, LINES).template_kwargs == {}
