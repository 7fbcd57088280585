"""What happened in a stretch of time. Events count where they fall, so requests under way at its ends bias nothing."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from inference.bench.load.sample import Sample


@dataclass(frozen=True)
class Window:
    """From `start` to `end`, `perf_counter` seconds."""

    start: float
    end: float

    @property
    def seconds(self) -> float:
        return self.end - self.start

    def holds(self, moment: float | None) -> bool:
        return moment is not None and self.start <= moment < self.end

    def completed(self, samples: Iterable[Sample]) -> int:
        return sum(self.holds(sample.ended) and not sample.error for sample in samples)

    def errors(self, samples: Iterable[Sample]) -> list[str]:
        return [sample.error for sample in samples if sample.error and self.holds(sample.ended)]

    def ttft_ms(self, samples: Iterable[Sample]) -> list[float]:
        """Of requests whose first token came in the window."""
        return [
            (sample.first - sample.started) * 1000
            for sample in samples
            if sample.first is not None and self.holds(sample.first) and not sample.error
        ]

    def itl_ms(self, samples: Iterable[Sample]) -> list[float]:
        """Between pieces of an answer, the later one in the window."""
        return list(self._gaps(samples))

    def tpot_ms(self, samples: Iterable[Sample]) -> list[float]:
        """Time per output token of requests that ended in the window: the same, however pieces arrive together."""
        return [
            (sample.tokens[-1] - sample.tokens[0]) * 1000 / (len(sample.tokens) - 1)
            for sample in samples
            if self.holds(sample.ended) and not sample.error and len(sample.tokens) > 1
        ]

    def tokens(self, samples: Iterable[Sample]) -> int:
        return sum(self.holds(moment) for sample in samples for moment in sample.tokens)

    def _gaps(self, samples: Iterable[Sample]) -> Iterator[float]:
        for sample in samples:
            for before, after in pairwise(sample.tokens):
                if self.holds(after):
                    yield (after - before) * 1000


def first_error(windows: Iterable[tuple[Window, Sequence[Sample]]]) -> str:
    return next((error for window, samples in windows for error in window.errors(samples)), "")
