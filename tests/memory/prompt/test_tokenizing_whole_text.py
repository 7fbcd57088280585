"""A prompt is tokenised whole; spans found from characters hold exactly their text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory.prompt.compose import encode_prompt
from memory.prompt.template import ChatTemplate
from memory.prompt.tokens import token_ids, tokenize
from tests.memory.prompt.templates import CHATML
from tests.memory.prompt.tokenizers import TOKENIZERS

LINES = ["- Alice likes green tea.\n", "- Bob said: «no way!»\n", "- 東京 is far 🙂\n", "- ends with -\n", "- x\n"]


@pytest.mark.parametrize("name", TOKENIZERS)
def test_each_span_holds_exactly_its_line_and_newline(name: str) -> None:
    template = ChatTemplate(TOKENIZERS[name](), CHATML)
    prompt = encode_prompt(template, LINES[:-1], LINES[-1:])

    texts = [template.tokenizer.decode(span.of(prompt.token_ids)) for span in [*prompt.context, *prompt.lines]]
    assert texts == LINES
    assert template.tokenizer.decode(prompt.header.of(prompt.token_ids)) == template.header


@pytest.mark.parametrize("name", TOKENIZERS)
def test_spans_join_without_gap_from_the_first_token(name: str) -> None:
    prompt = encode_prompt(ChatTemplate(TOKENIZERS[name](), CHATML), LINES[:-1], LINES[-1:])

    spans = [prompt.header, *prompt.context, *prompt.lines]
    assert [span.start for span in spans] == [0, *(span.end for span in spans[:-1])]
    assert spans[-1].end == len(prompt.token_ids)


@pytest.mark.parametrize("name", TOKENIZERS)
def test_ids_are_those_of_the_tokenizer_itself(name: str) -> None:
    tokenizer = TOKENIZERS[name]()
    text = "".join(LINES)
    ids = tokenizer(text, add_special_tokens=False)["input_ids"]
    assert tokenize(tokenizer, text).ids == token_ids(tokenizer, text) == ids


@given(texts=st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=5))
@pytest.mark.parametrize("name", TOKENIZERS)
def test_any_fact_has_the_same_tokens_alone_and_among_others(name: str, texts: list[str]) -> None:
    template = ChatTemplate(TOKENIZERS[name](), CHATML)
    lines = [template.line(f"a{text}") for text in texts]

    together = encode_prompt(template, lines[:-1], lines[-1:])
    for line, span in zip(lines, [*together.context, *together.lines], strict=True):
        alone = encode_prompt(template, (), [line])
        assert alone.lines[0].of(alone.token_ids) == span.of(together.token_ids)
