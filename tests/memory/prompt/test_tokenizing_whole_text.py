"""A prompt is tokenised whole; spans found from characters hold exactly their text."""

from functools import lru_cache
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from memory.prompt.compose import encode_prompt
from memory.prompt.ids import _own_ids, _quick_ids, token_ids_of
from memory.prompt.template import ChatTemplate
from memory.prompt.tokens import tokenize
from tests.memory.prompt.templates import CHATML
from tests.memory.prompt.tokenizers import SPECIAL, TOKENIZERS


@lru_cache
def quick_ids(name: str) -> Any:
    return token_ids_of(TOKENIZERS[name]())


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
    assert tokenize(tokenizer, text).ids == token_ids_of(tokenizer)(text) == ids


PIECES = st.one_of(
    st.text(max_size=40),
    st.text(alphabet="abc XYZ.,'\n\t 0123456789-_/«»", max_size=60),
    st.sampled_from([*SPECIAL, "'s", "I'll", "e\u0301", "\u200b", "\u00a0", "漢字", "👩\u200d👧", "\r\n", "\ufeff"]),
)


@given(parts=st.lists(PIECES, max_size=12))
@pytest.mark.parametrize("name", TOKENIZERS)
def test_ids_of_any_text_are_those_of_the_tokenizer_itself(name: str, parts: list[str]) -> None:
    tokenizer, text = TOKENIZERS[name](), "".join(parts)
    assert quick_ids(name)(text) == tokenizer(text, add_special_tokens=False)["input_ids"]


def test_the_demo_models_ids_come_the_short_way() -> None:
    assert quick_ids("demo").func is _quick_ids


def test_a_tokenizer_that_the_short_way_does_not_know_gives_its_own_ids() -> None:
    words = Tokenizer(models.WordLevel({"<unk>": 0, "green": 1, "tea": 2}, unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    wrapper: Any = PreTrainedTokenizerFast
    ids: Any = token_ids_of(wrapper(tokenizer_object=words, unk_token="<unk>"))
    assert ids.func is _own_ids
    assert ids("green tea now") == [1, 2, 0]


@given(texts=st.lists(st.text(min_size=1, max_size=40), min_size=1, max_size=5))
@pytest.mark.parametrize("name", TOKENIZERS)
def test_any_fact_has_the_same_tokens_alone_and_among_others(name: str, texts: list[str]) -> None:
    template = ChatTemplate(TOKENIZERS[name](), CHATML)
    lines = [template.line(f"a{text}") for text in texts]

    together = encode_prompt(template, lines[:-1], lines[-1:])
    for line, span in zip(lines, [*together.context, *together.lines], strict=True):
        alone = encode_prompt(template, (), [line])
        assert alone.lines[0].of(alone.token_ids) == span.of(together.token_ids)
