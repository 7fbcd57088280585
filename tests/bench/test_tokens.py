"""Facts of random ids, and the requests made of them."""

import pytest

from inference.bench.engine_latency import longest_request, pool_tokens
from inference.bench.tokens import TokenSource, encode_params, inject_params, passes, prompt_ids
from memory.contracts import parse_params
from memory.digest import token_digest


def test_facts_are_different_and_below_the_vocabulary() -> None:
    facts = TokenSource(1000).facts(200, 30)
    assert {len(fact.ids) for fact in facts} == {30}
    assert len({fact.key for fact in facts}) == 200
    assert max(map(max, (fact.ids for fact in facts))) < 1000


def test_each_draw_has_another_order() -> None:
    source = TokenSource(1000)
    facts = source.facts(20, 30)
    first, second = source.draw(facts, 10), source.draw(facts, 10)
    assert len({fact.key for fact in first}) == 10
    assert first != second


def test_what_is_injected_stands_in_the_prompt_and_was_encoded() -> None:
    source = TokenSource(1000)
    facts = source.facts(8, 30)
    spans = {span.key: span for span in encode_params(facts).spans}
    pass_ids, drawn = prompt_ids(facts), source.draw(facts, 5)
    prompt, at = prompt_ids(drawn), 0
    for segment in inject_params(drawn).segments:
        span = spans[segment.key]
        assert token_digest(pass_ids[span.start : span.end]) == segment.digest
        assert token_digest(prompt[at : at + segment.tokens]) == segment.digest
        at += segment.tokens
    assert at == len(prompt)
    for params in (encode_params(facts), inject_params(drawn)):
        assert parse_params(params.to_params()) == params


def test_passes_fit_and_leave_out_no_fact() -> None:
    facts = TokenSource(1000).facts(10, 30)
    split = passes(facts, 100)
    assert [len(part) for part in split] == [3, 3, 3, 1]
    assert [fact for part in split for fact in part] == facts
    with pytest.raises(ValueError, match="a fact of 30 tokens does not fit into 29"):
        passes(facts, 29)


def test_the_engine_takes_a_prompt_with_all_facts() -> None:
    assert longest_request([5, 50]) > pool_tokens([5, 50]) > 50 * 30
