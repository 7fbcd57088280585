"""How good an answer is, and whether two modes differ."""

import re
import string
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import snowballstemmer
from scipy.stats import binomtest

ARTICLES = re.compile(r"\b(a|an|the)\b")
PUNCTUATION = str.maketrans("", "", string.punctuation)
RESAMPLES = 2000

_stemmer = snowballstemmer.stemmer("porter")


def answer_words(text: str) -> list[str]:
    """Lower case, without punctuation and articles, stemmed."""
    bare = ARTICLES.sub(" ", text.lower().translate(PUNCTUATION))
    return list(_stemmer.stemWords(bare.split()))


def token_f1(answer: str, gold: str) -> float:
    """Harmonic mean of precision and recall over words; 0 when either has none."""
    said, meant = answer_words(answer), answer_words(gold)
    common = sum((Counter(said) & Counter(meant)).values())
    return 2 * common / (len(said) + len(meant)) if common else 0.0


@dataclass(frozen=True)
class Estimate:
    """A mean with the middle 95% of its bootstrap."""

    mean: float
    low: float
    high: float

    def as_json(self, digits: int = 5) -> list[float]:
        return [round(self.mean, digits), round(self.low, digits), round(self.high, digits)]


def mean_estimate(values: Sequence[float]) -> Estimate:
    """Of paired differences this is the paired interval. The same values give the same. Raises ValueError on none."""
    if not values:
        raise ValueError("a mean needs values")
    data = np.asarray(values, dtype=float)
    rng = np.random.default_rng(0)
    means = [float(data[rng.integers(0, len(data), len(data))].mean()) for _ in range(RESAMPLES)]
    low, high = np.percentile(means, (2.5, 97.5))
    return Estimate(float(data.mean()), float(low), float(high))


@dataclass(frozen=True)
class McNemar:
    """`gained`: questions wrong before and right after; `p` is exact and two-sided."""

    gained: int
    lost: int
    p: float


def mcnemar(before: Sequence[bool], after: Sequence[bool]) -> McNemar:
    """Of the same questions in two modes."""
    gained = sum(now and not was for was, now in zip(before, after, strict=True))
    lost = sum(was and not now for was, now in zip(before, after, strict=True))
    p = float(binomtest(gained, gained + lost).pvalue) if gained + lost else 1.0
    return McNemar(gained, lost, p)
