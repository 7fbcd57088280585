"""TTFT in the engine alone: all modes, tiers and k interleaved, one request at a time."""

import gc
import os
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from statistics import median
from typing import Any, Literal
from uuid import uuid4

from inference.bench.errors import BenchError
from inference.bench.inprocess import InProcessEngine, TimedRequest, has_gpu
from inference.bench.results import Row, rounded
from inference.bench.tokens import TokenFact, TokenSource, encode_params, inject_params, passes, prompt_ids
from memory.contracts import MAX_ITEMS, MoveParams, Tier
from memory.store import BlobStore

Mode = Literal["inject", "prompt", "cached", "none"]
MODES: tuple[Mode, ...] = ("inject", "prompt", "cached", "none")
TIERS: tuple[Tier, ...] = ("gpu", "host", "disk")

FACT_TOKENS = 30
QUESTION_TOKENS = 24
SPARE_FACTS = 10
WARM_UP = 3
DECODE_TOKENS = 32
DECODE_SAMPLES = 10
SETTLE_REQUESTS = 3
SETTLE_SECONDS = 0.005
WRITE_SECONDS = 180.0


class EngineBenchError(BenchError):
    """The engine did not do what is to be measured."""


@dataclass(frozen=True)
class Case:
    mode: Mode
    k: int
    tier: Tier


@dataclass
class Samples:
    ms: list[float] = field(default_factory=list)
    cached_tokens: list[int] = field(default_factory=list)


class EngineLatency:
    """Encodes the facts once, then asks with them in a new random order each time.

    `tiers`: where the blobs of an injected request lie when it comes; the other modes are measured once a round and
    reported under the first of them.
    """

    def __init__(
        self,
        engine: InProcessEngine,
        *,
        vocabulary: int,
        ks: Sequence[int],
        modes: Sequence[Mode],
        tiers: Sequence[Tier],
    ) -> None:
        self.engine, self.tiers = engine, tiers
        self.source = TokenSource(vocabulary)
        self.facts = self.source.facts(max(ks) + SPARE_FACTS, FACT_TOKENS)
        self.cases = list(_cases(ks, modes, tiers))
        self.blobs = BlobStore(engine.settings.store)
        self.places = list(tiers) != [fastest_tier()]

    def encode(self) -> None:
        """Raises EngineBenchError when the connector does not take the facts or does not write them."""
        for facts in passes(self.facts, self.engine.settings.max_model_len - 1):
            for part in (facts[at : at + MAX_ITEMS] for at in range(0, len(facts), MAX_ITEMS)):
                params = encode_params(part).to_params()
                answer = self.engine.request(prompt_ids(part), params)
                if set((answer.params or {}).get("accepted", ())) != {fact.key for fact in part}:
                    raise EngineBenchError("the engine does not accept encode requests: is the connector on?")
        self._wait_written()
        self._bring_up(self.facts)

    def run(self, rounds: int, progress: Callable[[int], None]) -> Iterator[dict[Case, Samples]]:
        """After each round all samples so far; `progress` gets the number of rounds done."""
        taken = {case: Samples() for case in self.cases}
        for number in range(-WARM_UP, rounds):
            if number == 0:  # the heap of start-up is not walked again in the middle of a sample
                gc.collect()
                gc.freeze()
            for index in self.source.rng.permutation(len(self.cases)):
                case = self.cases[index]
                timed = self._measure(case)
                if number >= 0:
                    taken[case].ms.append(timed.ms)
                    taken[case].cached_tokens.append(timed.cached_tokens)
            if number >= 0:
                progress(number + 1)
                yield taken

    def decode_ms(self) -> list[float]:
        """A decode step: a longer answer's time less a one-token answer's, divided by the steps between."""
        steps = []
        for _ in range(DECODE_SAMPLES):
            ids = self.source.ids(QUESTION_TOKENS)
            one = self.engine.request(ids).ms
            steps.append((self.engine.request(ids, max_tokens=DECODE_TOKENS + 1).ms - one) / DECODE_TOKENS)
        return steps

    def _measure(self, case: Case) -> TimedRequest:
        question = self.source.ids(QUESTION_TOKENS)
        if case.mode == "none":
            return self.engine.request(question)
        facts = self.source.draw(self.facts, case.k)
        ids = prompt_ids(facts)
        match case.mode:
            case "inject":
                if self.places:
                    self._place(facts, case.tier)
                return self.engine.request([*ids, *question], inject_params(facts).to_params())
            case "cached":
                salt = uuid4().hex
                self.engine.request([*ids, *self.source.ids(QUESTION_TOKENS)], salt=salt)
                return self.engine.request([*ids, *question], salt=salt)
            case _:
                return self.engine.request([*ids, *question])

    def _place(self, facts: Sequence[TokenFact], tier: Tier) -> None:
        """Returns when the blobs lie there. An untimed request brings them up, as asking always does."""
        if tier != "disk":
            self._bring_up(facts)
        if tier != "gpu":
            keys = [fact.key for fact in facts]
            for at in range(0, len(keys), MAX_ITEMS):
                self._idle_request(MoveParams(tuple(keys[at : at + MAX_ITEMS]), tier).to_params())
        if tier == "disk":
            forget_pages(self.blobs.path(fact.key) for fact in facts)
        for _ in range(SETTLE_REQUESTS):  # moving goes on in the steps of the requests that follow
            self._idle_request()
            time.sleep(SETTLE_SECONDS)

    def _bring_up(self, facts: Sequence[TokenFact]) -> None:
        ids = [*prompt_ids(facts), *self.source.ids(QUESTION_TOKENS)]
        self.engine.request(ids, inject_params(facts).to_params())

    def _idle_request(self, params: dict[str, Any] | None = None) -> None:
        self.engine.request(self.source.ids(1), params)

    def _wait_written(self) -> None:
        """Writing to disk goes on behind the answers, and would slow those that are timed."""
        waiting = [fact.key for fact in self.facts]
        deadline = time.monotonic() + WRITE_SECONDS
        while waiting := [key for key in waiting if not self.blobs.exists(key)]:
            if time.monotonic() > deadline:
                raise EngineBenchError(
                    f"{len(waiting)} of {len(self.facts)} facts were not written to {self.blobs.root}"
                )
            self._idle_request()
            time.sleep(0.05)


def latency_rows(taken: dict[Case, Samples], common: Row) -> list[Row]:
    return [_row(case, samples, common) for case, samples in taken.items() if samples.ms]


def _row(case: Case, samples: Samples, common: Row) -> Row:
    """`complete`, of injected requests: in how many samples no fact had to be computed."""
    row = {
        **common,
        "kind": "latency",
        "transport": "engine",
        "tier": case.tier,
        "mode": case.mode,
        "k": case.k,
        "prompt_tokens": prompt_tokens(case),
        "cached_tokens": median(samples.cached_tokens),
        "samples_ms": rounded(samples.ms),
    }
    if case.mode == "inject":
        row["complete"] = sum(cached >= case.k * FACT_TOKENS for cached in samples.cached_tokens)
    return row


def prompt_tokens(case: Case) -> int:
    return QUESTION_TOKENS + (0 if case.mode == "none" else case.k * FACT_TOKENS)


def longest_request(ks: Sequence[int]) -> int:
    """Tokens of the longest prompt, which holds all facts, with its answer."""
    return pool_tokens(ks) + QUESTION_TOKENS + DECODE_TOKENS + 1


def pool_tokens(ks: Sequence[int]) -> int:
    """Tokens of all facts that are encoded."""
    return (max(ks) + SPARE_FACTS) * FACT_TOKENS


def forget_pages(paths: Iterable[Path]) -> None:
    """What is read of these files next comes from the disk, not from memory that the kernel kept."""
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
        finally:
            os.close(descriptor)


def fastest_tier() -> Tier:
    """Where blobs lie that were just encoded or asked for."""
    return "gpu" if has_gpu() else "host"


def _cases(ks: Sequence[int], modes: Sequence[Mode], tiers: Sequence[Tier]) -> Iterator[Case]:
    for k, mode in product(ks, modes):
        yield from (Case(mode, k, tier) for tier in (tiers if mode == "inject" else tiers[:1]))
