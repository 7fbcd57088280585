"""Facts and questions as random token ids: speed does not depend on what they say."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memory.contracts import EncodeParams, InjectParams, Segment, Span
from memory.digest import token_digest

TENANT = "bench"


@dataclass(frozen=True)
class TokenFact:
    ids: tuple[int, ...]

    @property
    def digest(self) -> str:
        return token_digest(self.ids)

    @property
    def key(self) -> str:
        """A blob key: 64 hexadecimal digits, of this fact alone."""
        return self.digest * 2


class TokenSource:
    """Draws ids below `vocabulary`; the same seed gives the same."""

    def __init__(self, vocabulary: int, seed: int = 0) -> None:
        self.vocabulary, self.rng = vocabulary, np.random.default_rng(seed)

    def ids(self, count: int) -> list[int]:
        return [int(token) for token in self.rng.integers(0, self.vocabulary, size=count)]

    def facts(self, count: int, tokens: int) -> list[TokenFact]:
        return [TokenFact(tuple(self.ids(tokens))) for _ in range(count)]

    def draw(self, facts: Sequence[TokenFact], count: int) -> list[TokenFact]:
        """`count` different ones in a new random order."""
        return [facts[index] for index in self.rng.permutation(len(facts))[:count]]


def prompt_ids(facts: Sequence[TokenFact]) -> list[int]:
    return [token for fact in facts for token in fact.ids]


def inject_params(facts: Sequence[TokenFact]) -> InjectParams:
    return InjectParams(TENANT, tuple(Segment(fact.key, len(fact.ids), fact.digest) for fact in facts))


def encode_params(facts: Sequence[TokenFact]) -> EncodeParams:
    """All of them in one pass, each behind those before it."""
    spans, at = [], 0
    for fact in facts:
        spans.append(Span(fact.key, at, at + len(fact.ids)))
        at += len(fact.ids)
    return EncodeParams(TENANT, tuple(spans))


def passes(facts: Sequence[TokenFact], max_tokens: int) -> list[list[TokenFact]]:
    """Split so that each pass has at most `max_tokens` tokens. Raises ValueError when one fact has more."""
    split: list[list[TokenFact]] = []
    room = 0
    for fact in facts:
        if len(fact.ids) > max_tokens:
            raise ValueError(f"a fact of {len(fact.ids)} tokens does not fit into {max_tokens}")
        if room < len(fact.ids):
            split.append([])
            room = max_tokens
        split[-1].append(fact)
        room -= len(fact.ids)
    return split
