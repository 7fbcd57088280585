"""Texts that wait are embedded together, each gets its own row, and a failure stays with its batch."""

from collections.abc import Sequence
from threading import Event

import numpy as np
import pytest

from memory.retrieval.batching import BatchingQueue
from memory.retrieval.forward import Vectors


class Lengths:
    """Embeds a text as its length. Holds the first batch until told to go on."""

    def __init__(self) -> None:
        self.batches: list[list[str]] = []
        self.begun, self.go_on = Event(), Event()

    def __call__(self, texts: Sequence[str]) -> Vectors:
        self.batches.append(list(texts))
        self.begun.set()
        assert self.go_on.wait(60)
        if "bad" in texts:
            raise ValueError("bad text")
        return np.array([[len(text)] for text in texts], dtype=np.float32)


@pytest.fixture
def lengths() -> Lengths:
    return Lengths()


def test_what_waited_meanwhile_is_one_batch(lengths: Lengths) -> None:
    queue = BatchingQueue(lengths, most=8)
    first = queue.submit("a")
    assert lengths.begun.wait(60)
    rest = [queue.submit("b" * length) for length in (2, 3, 4)]
    lengths.go_on.set()
    assert [float(future.result(60)[0]) for future in (first, *rest)] == [1, 2, 3, 4]
    assert lengths.batches == [["a"], ["bb", "bbb", "bbbb"]]


def test_a_batch_has_at_most_so_many(lengths: Lengths) -> None:
    queue = BatchingQueue(lengths, most=2)
    futures = [queue.submit("first")]
    assert lengths.begun.wait(60)
    futures += [queue.submit(text) for text in "abc"]
    lengths.go_on.set()
    assert [float(future.result(60)[0]) for future in futures] == [5, 1, 1, 1]
    assert lengths.batches == [["first"], ["a", "b"], ["c"]]


def test_a_failure_reaches_who_asked_and_the_next_are_served(lengths: Lengths) -> None:
    lengths.go_on.set()
    queue = BatchingQueue(lengths, most=1)
    with pytest.raises(ValueError, match="bad text"):
        queue.submit("bad").result(60)
    assert queue.submit("good").result(60)[0] == 4
