"""A streamed answer is timed by its pieces; what goes wrong in it is an error."""

from inference.bench.load import Sample
from inference.bench.load.client import read_event

ROLE = b'data: {"id":"x","choices":[{"index":0,"delta":{"role":"assistant","content":""}}]}\n'
PIECE = b'data: {"id":"x","choices":[{"index":0,"delta":{"content":"a"}}]}\n'
USAGE = b'data: {"id":"x","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":2}}\n'
ERROR = b'data: {"error":{"message":"the engine is gone"}}\n'


def test_the_first_event_is_the_first_token_and_pieces_are_counted_once() -> None:
    sample = Sample(1.0)
    counted = [read_event(line, sample, now) for now, line in enumerate((ROLE, PIECE, PIECE, USAGE), start=2)]
    assert sample.first == 2
    assert sample.tokens == [3, 4]
    assert counted == [0, 0, 0, 2]
    assert not sample.error


def test_an_error_in_the_stream_is_kept() -> None:
    sample = Sample(1.0)
    read_event(ERROR, sample, 2.0)
    assert "the engine is gone" in sample.error
    assert sample.first is None
