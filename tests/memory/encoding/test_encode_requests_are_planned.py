"""An encode request has the header, the context and the fact as they are served, and names their spans."""

from itertools import pairwise

import pytest

from memory.digest import token_digest
from memory.encoding import KeySpace, PromptTooLong, plan_encoding, plan_header
from memory.keys import blob_key
from memory.prompt import ChatTemplate, compose_prompt
from tests.memory.prompt.tokenizers import demo_tokenizer

KEYS = KeySpace("tenant", "owner", "model", "neighbours(16)/1")
FACTS = ["Bob lives in Lisbon!", "Bruno is Alice's dog", "Alice likes green tea."]
PLENTY = 8192


@pytest.fixture(scope="module")
def template() -> ChatTemplate:
    return ChatTemplate(demo_tokenizer())


@pytest.fixture(scope="module")
def lines(template: ChatTemplate) -> list[str]:
    return [template.line(fact) for fact in FACTS]


def test_the_prompt_is_a_prefix_of_the_chat_with_the_same_facts(template: ChatTemplate, lines: list[str]) -> None:
    plan = plan_encoding(template, keys=KEYS, context_lines=lines[:2], lines=lines[2:], max_tokens=PLENTY)
    chat = compose_prompt(template, [{"role": "user", "content": "What does Alice like?"}], lines)
    assert plan.token_ids == chat.token_ids[: chat.lines[-1].end]
    (line,) = plan.lines
    assert (line.start, line.end) == (chat.lines[-1].start, chat.lines[-1].end)
    assert plan.header
    assert (plan.header.start, plan.header.end) == (0, chat.header.end)
    assert line.digest == token_digest(chat.lines[-1].of(chat.token_ids))


def test_the_key_covers_the_context_before_the_span(template: ChatTemplate, lines: list[str]) -> None:
    (alone,), (behind,) = (
        plan_encoding(template, keys=KEYS, context_lines=context, lines=lines[2:], max_tokens=PLENTY).lines
        for context in ([], lines[:2])
    )
    assert alone.digest == behind.digest
    assert alone.key != behind.key


def test_the_key_is_that_of_the_tokens(template: ChatTemplate, lines: list[str]) -> None:
    plan = plan_encoding(template, keys=KEYS, context_lines=lines[:2], lines=lines[2:], max_tokens=PLENTY)
    (line,) = plan.lines
    expected = blob_key(
        tenant="tenant",
        owner="owner",
        fingerprint="model",
        strategy="neighbours(16)/1",
        context_ids=plan.token_ids[: line.start],
        segment_ids=plan.token_ids[line.start : line.end],
    )
    assert line.key == expected


@pytest.mark.parametrize("field", ["tenant", "owner", "fingerprint", "strategy"])
def test_no_two_owners_models_or_strategies_share_a_key(template: ChatTemplate, lines: list[str], field: str) -> None:
    fields = {"tenant": "tenant", "owner": "owner", "fingerprint": "model", "strategy": "neighbours(16)/1"}
    other = KeySpace(**{**fields, field: "other"})
    ours, theirs = (
        plan_encoding(template, keys=keys, context_lines=[], lines=lines[:1], max_tokens=PLENTY)
        for keys in (KEYS, other)
    )
    assert ours.token_ids == theirs.token_ids
    assert ours.header
    assert theirs.header
    assert {ours.lines[0].key, ours.header.key}.isdisjoint({theirs.lines[0].key, theirs.header.key})


def test_the_header_alone_has_the_key_it_has_before_a_fact(template: ChatTemplate, lines: list[str]) -> None:
    alone = plan_header(template, keys=KEYS)
    before = plan_encoding(template, keys=KEYS, context_lines=[], lines=lines[:1], max_tokens=PLENTY)
    assert alone.header
    assert alone.header == before.header
    assert len(alone.token_ids) == alone.header.tokens


def test_the_farthest_lines_are_left_out_when_the_model_is_too_short(template: ChatTemplate, lines: list[str]) -> None:
    context = [*lines[:2], *(template.line(f"Alice owns book number {number}.") for number in range(20))]
    whole = plan_encoding(template, keys=KEYS, context_lines=context, lines=lines[2:], max_tokens=PLENTY)
    sizes = []
    for limit in range(len(whole.token_ids), 60, -7):
        plan = plan_encoding(template, keys=KEYS, context_lines=context, lines=lines[2:], max_tokens=limit)
        kept = context[len(context) - plan.context_lines :]
        same = plan_encoding(template, keys=KEYS, context_lines=kept, lines=lines[2:], max_tokens=PLENTY)
        assert plan == same
        assert len(plan.token_ids) <= limit
        sizes.append(plan.context_lines)
    assert sizes[0] == len(context)
    assert all(more >= fewer for more, fewer in pairwise(sizes))
    assert sizes[-1] < 5


def test_no_more_is_left_out_than_has_to_be(template: ChatTemplate, lines: list[str]) -> None:
    context = lines[:2]
    whole = plan_encoding(template, keys=KEYS, context_lines=context, lines=lines[2:], max_tokens=PLENTY)
    limit = len(whole.token_ids) - 1
    assert (
        plan_encoding(template, keys=KEYS, context_lines=context, lines=lines[2:], max_tokens=limit).context_lines == 1
    )


def test_lines_share_a_pass_each_behind_those_before_it(template: ChatTemplate, lines: list[str]) -> None:
    plan = plan_encoding(template, keys=KEYS, context_lines=lines[:1], lines=lines[1:], max_tokens=PLENTY)
    alone = plan_encoding(template, keys=KEYS, context_lines=lines[:2], lines=lines[2:], max_tokens=PLENTY)
    first = plan_encoding(template, keys=KEYS, context_lines=lines[:1], lines=lines[1:2], max_tokens=PLENTY)
    assert plan.token_ids == alone.token_ids
    assert plan.lines == (*first.lines, *alone.lines)
    assert (plan.header, plan.context_lines) == (alone.header, 1)


def test_as_many_lines_share_a_pass_as_have_room_in_it(template: ChatTemplate, lines: list[str]) -> None:
    run = [template.line(f"Alice owns book number {number}.") for number in range(20)]
    whole = plan_encoding(template, keys=KEYS, context_lines=lines, lines=run, max_tokens=PLENTY)
    assert len(whole.lines) == 20
    for count in (1, 2, 19):
        limit = whole.lines[count - 1].end
        for room in (limit, limit + 1):
            plan = plan_encoding(
                template, keys=KEYS, context_lines=lines, lines=run, max_tokens=PLENTY, pass_tokens=room
            )
            assert plan.lines == whole.lines[:count]
            assert len(plan.token_ids) == limit


def test_the_first_line_keeps_its_context_even_beyond_a_pass(template: ChatTemplate, lines: list[str]) -> None:
    plan = plan_encoding(
        template, keys=KEYS, context_lines=lines[:1], lines=lines[1:], max_tokens=PLENTY, pass_tokens=10
    )
    assert (plan.context_lines, len(plan.lines)) == (1, 1)
    assert len(plan.token_ids) > 10


def test_a_fact_longer_than_the_model_is_refused_with_both_sizes(template: ChatTemplate) -> None:
    line = template.line("word " * 500)
    with pytest.raises(PromptTooLong, match=r"^\d{3} tokens with the header, the model takes 128$"):
        plan_encoding(template, keys=KEYS, context_lines=[], lines=[line], max_tokens=128)


def test_without_a_header_the_prompt_is_the_context_and_the_fact(template: ChatTemplate, lines: list[str]) -> None:
    turns = [template.turn_line("Ann", "Do you  like <|im_end|> tea?"), template.turn_line("Bob", "Yes.\nGreen tea.")]
    assert turns[0] == "Ann: Do you like < |im_end|> tea?\n"
    plan = plan_encoding(template, keys=KEYS, context_lines=turns, lines=lines[2:], max_tokens=PLENTY, has_header=False)
    text = "".join([*turns, lines[2]])
    assert plan.token_ids == template.tokenizer.encode(text, add_special_tokens=False)
    assert plan.header is None
    assert plan.lines[0].end == len(plan.token_ids)
    with_header = plan_encoding(template, keys=KEYS, context_lines=turns, lines=lines[2:], max_tokens=PLENTY)
    assert with_header.header
    assert with_header.lines[0].key != plan.lines[0].key
    assert with_header.lines[0].digest == plan.lines[0].digest


def test_the_farthest_turns_are_left_out_first(template: ChatTemplate, lines: list[str]) -> None:
    turns = [template.turn_line("Ann", f"This is sentence number {number}.") for number in range(20)]
    plan = plan_encoding(template, keys=KEYS, context_lines=turns, lines=lines[2:], max_tokens=60, has_header=False)
    text = "".join([*turns[-plan.context_lines :], lines[2]])
    assert 0 < plan.context_lines < 20
    assert plan.token_ids == template.tokenizer.encode(text, add_special_tokens=False)
