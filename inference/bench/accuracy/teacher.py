"""Scores gold answers under teacher forcing, on logits as the model makes them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import torch

ARGUMENT = "inferscale_probe"
"""Of a request's extra arguments: the question it is asked, by number."""


@dataclass(frozen=True)
class GoldScores:
    """`log_likelihoods` and `hits` (whether it was the likeliest) of each gold token, each after those before it.

    `kl`: from the reference's distribution of the first token to this one, in nats; `top1`: whether both have the same
    likeliest token.
    """

    log_likelihoods: tuple[float, ...]
    hits: tuple[bool, ...]
    kl: float
    top1: bool


class ProbeSession:
    """Requests made to say `golds`, one a question; row i of `reference` is what question i is compared with.

    Without a reference the distributions become the reference. Everything stays on the logits' device until `scores`.
    """

    current: ClassVar["ProbeSession | None"] = None

    def __init__(self, golds: Sequence[Sequence[int]], reference: torch.Tensor | None = None) -> None:
        """`reference`: log-probabilities float32 [questions, vocabulary]. Raises ValueError on an empty gold answer."""
        if not all(golds):
            raise ValueError("a gold answer needs at least one token")
        self.golds, self.reference = [list(gold) for gold in golds], reference
        self.keeps_reference = reference is None
        self._found: torch.Tensor | None = None
        self._first: torch.Tensor | None = None

    def __enter__(self) -> "ProbeSession":
        ProbeSession.current = self
        return self

    def __exit__(self, *_: object) -> None:
        ProbeSession.current = None

    def read(self, logits: torch.Tensor, rows: list[int], questions: list[int], steps: list[int]) -> None:
        """Keep what is asked of `logits` [batch, vocabulary], and leave only the gold tokens possible in those rows."""
        device = logits.device
        at = torch.tensor([rows, questions, steps, self._tokens(questions, steps)], device=device)
        row, question, step, token = at
        logs = torch.log_softmax(logits[row].float(), dim=-1)
        found, first = self._room(logits)
        of_gold = logs.gather(1, token[:, None])[:, 0]
        found[question, step, 0] = of_gold
        found[question, step, 1] = (logs.argmax(dim=-1) == token).float()
        if begun := [place for place, number in enumerate(steps) if number == 0]:
            self._compare(logs[begun], question[begun], first)
        logits[row] = float("-inf")
        logits[row, token] = 0.0

    def scores(self) -> list[GoldScores]:
        assert self._found is not None, "nothing was asked"
        assert self._first is not None
        found, first = self._found.cpu(), self._first.cpu()
        if torch.isnan(first).any():
            raise ValueError("some questions were not asked")
        result = []
        for gold, of_tokens, of_first in zip(self.golds, found, first, strict=True):
            logs, hits = of_tokens[: len(gold)].unbind(dim=1)
            kl, top1 = of_first.tolist()
            result.append(GoldScores(tuple(logs.tolist()), tuple(bool(hit) for hit in hits), kl, bool(top1)))
        return result

    def _tokens(self, questions: list[int], steps: list[int]) -> list[int]:
        return [self.golds[question][step] for question, step in zip(questions, steps, strict=True)]

    def _room(self, logits: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        if self._found is None or self._first is None:
            count, longest = len(self.golds), max(map(len, self.golds))
            self._found = torch.full((count, longest, 2), float("nan"), device=logits.device)
            self._first = torch.full((count, 2), float("nan"), device=logits.device)
            if self.keeps_reference:
                self.reference = torch.empty((count, logits.shape[-1]), device=logits.device)
        return self._found, self._first

    def _compare(self, logs: torch.Tensor, questions: torch.Tensor, first: torch.Tensor) -> None:
        """A prompt that is computed in parts comes more than once, at last whole: the last one stays."""
        assert self.reference is not None
        if self.keeps_reference:
            self.reference[questions] = logs
        reference = self.reference[questions]
        gaps = torch.where(reference > float("-inf"), reference - logs, 0.0)
        first[questions, 0] = (reference.exp() * gaps).sum(dim=-1)
        first[questions, 1] = (reference.argmax(dim=-1) == logs.argmax(dim=-1)).float()
