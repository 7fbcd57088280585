"""A conversation's prompts as the gateway would send them, and its facts' encodings as the workers would ask for."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inference.bench.accuracy.locomo import Conversation, Question
from inference.bench.accuracy.modes import Mode
from inference.bench.errors import BenchError
from memory.contracts import InjectParams, Segment
from memory.digest import count_standing
from memory.encoding import ContextStrategy, EncodingPlan, KeySpace, PlannedSegment, plan_encoding, plan_header
from memory.prompt import ChatTemplate, compose_prompt

TENANT = "bench"
INSTRUCTION = "Answer in a few words."
TOKENS_A_LINE = 4  # at least

Vectors = NDArray[np.float32]


@dataclass(frozen=True)
class Prompt:
    """`facts` are indices, the best last."""

    token_ids: list[int]
    facts: tuple[int, ...] = ()


@dataclass(frozen=True)
class Encoded:
    """Plans of the header and of the facts, some of which may share one; `facts` counts them."""

    header: EncodingPlan
    passes: tuple[EncodingPlan, ...]
    facts: int

    @property
    def plans(self) -> list[EncodingPlan]:
        return [self.header, *self.passes]

    @property
    def tokens(self) -> int:
        return sum(len(plan.token_ids) for plan in self.plans)

    @property
    def segments(self) -> list[PlannedSegment]:
        """The header's, then each fact's."""
        assert self.header.header
        return [self.header.header, *(line for plan in self.passes for line in plan.lines)]


class ConversationPrompts:
    """A conversation for one model; `vectors` float32 [facts, dim] and [questions, dim], of length 1."""

    def __init__(
        self,
        conversation: Conversation,
        template: ChatTemplate,
        fact_vectors: Vectors,
        question_vectors: Vectors,
        *,
        fingerprint: str,
        max_tokens: int,
        pass_tokens: int,
    ) -> None:
        """`pass_tokens`: of a pass in which facts share their prompt."""
        self.conversation, self.template, self.fingerprint = conversation, template, fingerprint
        self.fact_vectors, self.max_tokens, self.pass_tokens = fact_vectors, max_tokens, pass_tokens
        self._scores = question_vectors @ fact_vectors.T
        self._prompts: dict[tuple[int, int], Prompt] = {}

    @cached_property
    def lines(self) -> list[str]:
        return [self.template.line(fact.text) for fact in self.conversation.facts]

    def prompt(self, index: int, k: int) -> Prompt:
        """The conversation's question at `index` with its k best facts. Raises BenchError when it is too long."""
        if (index, k) not in self._prompts:
            self._prompts[index, k] = self._composed(index, k)
        return self._prompts[index, k]

    def encoded(self, strategy: ContextStrategy) -> Encoded:
        keys = KeySpace(TENANT, self.conversation.name, self.fingerprint, strategy.name)
        plans, done = list[EncodingPlan](), 0
        while done < len(self.lines):
            end = done + self.pass_tokens // TOKENS_A_LINE if strategy.packs else done + 1
            plans.append(
                plan_encoding(
                    self.template,
                    keys=keys,
                    context_lines=[*self._turn_lines(done, strategy), *self._fact_lines(done, strategy)],
                    lines=self.lines[done : max(end, done + 1)],
                    max_tokens=self.max_tokens,
                    pass_tokens=self.pass_tokens,
                    has_header=strategy.has_header,
                )
            )
            done += len(plans[-1].lines)
        return Encoded(plan_header(self.template, keys=keys), tuple(plans), done)

    def injection(self, prompt: Prompt, mode: Mode, encoded: Encoded) -> InjectParams:
        """Raises BenchError when a segment's tokens are not the prompt's: it would be served as text."""
        header, *of_facts = encoded.segments
        best_last = [of_facts[index] for index in prompt.facts]
        kept = [header, *best_last[: max(0, len(best_last) - mode.text_tail)]]
        segments = tuple(Segment(planned.key, planned.tokens, planned.digest) for planned in kept)
        standing = count_standing(((segment.tokens, segment.digest) for segment in segments), prompt.token_ids)
        if standing < len(segments):
            raise BenchError(
                f"{self.conversation.name}: segment {standing} was encoded as other tokens than it is served"
            )
        return InjectParams(TENANT, segments)

    def _composed(self, index: int, k: int) -> Prompt:
        question = self.conversation.questions[index]
        best = np.argsort(self._scores[index], kind="stable")[-k:] if k else ()
        facts = tuple(int(fact) for fact in best)
        composed = compose_prompt(self.template, chat(question), [self.lines[fact] for fact in facts])
        if len(composed.token_ids) > self.max_tokens:
            raise BenchError(f"a prompt has {len(composed.token_ids)} tokens, the engine takes {self.max_tokens}")
        return Prompt(composed.token_ids, facts)

    def _turn_lines(self, index: int, strategy: ContextStrategy) -> Iterator[str]:
        for turn in self.conversation.turns_before(self.conversation.facts[index], strategy.turns_read):
            yield self.template.turn_line(turn.speaker, turn.text)

    def _fact_lines(self, index: int, strategy: ContextStrategy) -> list[str]:
        rows: Sequence[Any] = list(self.fact_vectors)
        later = rows[index + 1 :] if strategy.looks_ahead else []
        chosen = strategy.choose(rows[index], [*rows[:index], *later])
        return [self.lines[place + (place >= index)] for place in chosen]


def chat(question: Question) -> list[dict[str, Any]]:
    return [{"role": "user", "content": f"{question.text}\n{INSTRUCTION}"}]
