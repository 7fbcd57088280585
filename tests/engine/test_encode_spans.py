"""Which spans of an encode request are read."""

from inference.engine.arenas import BlockGroup
from inference.engine.scheduler import separate_spans
from memory.contracts import Span


def span(start: int, end: int) -> Span:
    return Span("a" * 64, start, end)


def test_spans_beyond_the_prompt_or_over_another_are_left_out() -> None:
    asked = [span(4, 9), span(0, 4), span(8, 12), span(9, 10), span(10, 13)]
    assert separate_spans(asked, 12) == [span(0, 4), span(4, 9), span(9, 10)]


def test_the_same_stretch_is_read_once_however_often_it_is_asked_for() -> None:
    assert separate_spans([span(0, 100)] * 50, 100) == [span(0, 100)]


def test_full_attention_holds_every_token() -> None:
    assert BlockGroup(16, None).still_holds(0, 40, [7, 8, 9], computed=1000)


def test_tokens_that_a_window_has_left_are_not_held() -> None:
    group = BlockGroup(16, window=32)
    blocks = [4, 5, 6, 7]
    assert group.still_holds(33, 50, blocks, computed=64)
    assert not group.still_holds(32, 50, blocks, computed=64)


def test_tokens_in_the_null_block_are_not_held() -> None:
    assert not BlockGroup(16, window=1000).still_holds(10, 20, [0, 5], computed=20)
    assert BlockGroup(16, window=1000).still_holds(16, 20, [0, 5], computed=20)
