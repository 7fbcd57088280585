"""Asks every question in every mode through the engine: facts encoded and injected by the connector."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import torch

from inference.bench.accuracy.locomo import Conversation, Question
from inference.bench.accuracy.measures import token_f1
from inference.bench.accuracy.modes import AGAIN, PROMPT, Mode
from inference.bench.accuracy.prompts import TENANT, ConversationPrompts, Encoded, Prompt, Vectors
from inference.bench.accuracy.records import EncodeRow, QuestionRow, Records
from inference.bench.accuracy.teacher import ARGUMENT, GoldScores, ProbeSession
from inference.bench.errors import BenchError
from inference.bench.inprocess import BatchedAnswer, BatchedRequest, InProcessEngine
from memory.contracts import EncodeParams
from memory.encoding import ContextStrategy, EncodingPlan, PlannedSegment
from memory.fingerprint import model_fingerprint
from memory.prompt import ChatTemplate
from memory.store import BlobStore

ANSWER_TOKENS = 32
GOLD_TOKENS = 32

Embed = Callable[[Sequence[str]], Vectors]


class InjectionError(BenchError):
    """Facts that should have been injected were computed, or could not be encoded."""


@dataclass(frozen=True)
class Model:
    """`stop_ids` end an answer; `pass_tokens` are those of a pass in which facts are encoded together."""

    template: ChatTemplate
    fingerprint: str
    stop_ids: tuple[int, ...]
    pass_tokens: int


class AccuracyBench:
    """`records` by k, the facts a prompt has."""

    def __init__(
        self,
        engine: InProcessEngine,
        model: Model,
        embed: Embed,
        modes: Sequence[Mode],
        records: dict[int, Records],
    ) -> None:
        self.engine, self.model, self.embed, self.modes, self.records = engine, model, embed, modes, records
        self.blobs = BlobStore(engine.settings.store)
        self.rng = np.random.default_rng(0)

    def run(self, conversation: Conversation, progress: Callable[[Mode, int], None]) -> None:
        """What is not in the records yet; `progress` is told of each mode and k that is done.

        Raises BenchError, InjectionError.
        """
        left = missing(conversation, self.modes, self.records)
        if not left:
            return
        prompts = self._prompts(conversation)
        references: dict[int, torch.Tensor] = {}
        for k in sorted({k for _, k in left}):
            rows, references[k] = self._ask(prompts, Mode(PROMPT), k)
            if (Mode(PROMPT), k) in left:
                self.records[k].add(rows)
                progress(Mode(PROMPT), k)
        others = [(mode, k) for mode, k in left if mode.name != PROMPT]
        for strategy, group in groupby(others, key=lambda item: item[0].strategy):
            encoded = self._encode(prompts, strategy, {k for _, k in left}) if strategy else None
            for mode, k in group:
                rows, _ = self._ask(prompts, mode, k, encoded, references[k])
                self.records[k].add(rows)
                progress(mode, k)
        self._forget()

    def _prompts(self, conversation: Conversation) -> ConversationPrompts:
        return ConversationPrompts(
            conversation,
            self.model.template,
            self.embed([fact.text for fact in conversation.facts]),
            self.embed([question.text for question in conversation.questions]),
            fingerprint=self.model.fingerprint,
            max_tokens=self.engine.settings.max_model_len - max(ANSWER_TOKENS, GOLD_TOKENS),
            pass_tokens=self.model.pass_tokens,
        )

    def _encode(self, prompts: ConversationPrompts, strategy: ContextStrategy, ks: set[int]) -> Encoded:
        encoded = prompts.encoded(strategy)
        spans = [tuple(segment.span for segment in _kept(plan)) for plan in encoded.plans]
        requests = [
            BatchedRequest(plan.token_ids, params=EncodeParams(TENANT, kept).to_params())
            for plan, kept in zip(encoded.plans, spans, strict=True)
        ]
        started = perf_counter()
        answers = self.engine.request_all(requests)
        seconds = perf_counter() - started
        refused = sum(
            set((answer.params or {}).get("accepted", ())) != {span.key for span in kept}
            for answer, kept in zip(answers, spans, strict=True)
        )
        if refused:
            raise InjectionError(f"the engine did not accept {refused} of {len(requests)} encode requests")
        name = prompts.conversation.name
        for k in ks:
            row = EncodeRow(name, strategy.name, encoded.facts, encoded.tokens, round(seconds, 3))
            self.records[k].add([row])
        return encoded

    def _ask(
        self,
        prompts: ConversationPrompts,
        mode: Mode,
        k: int,
        encoded: Encoded | None = None,
        reference: torch.Tensor | None = None,
    ) -> tuple[list[QuestionRow], torch.Tensor]:
        """Each question twice: made to say the gold answer, and left to its own."""
        questions = prompts.conversation.questions
        golds = [gold_ids(prompts.template, question) for question in questions]
        asked = [prompts.prompt(index, k if mode.has_facts else 0) for index in range(len(questions))]
        injections = [prompts.injection(prompt, mode, encoded) if encoded else None for prompt in asked]
        params = [injection.to_params() if injection else None for injection in injections]
        forced = [
            BatchedRequest(prompt.token_ids, len(gold), raw, extra={ARGUMENT: index})
            for index, (prompt, gold, raw) in enumerate(zip(asked, golds, params, strict=True))
        ]
        free = [
            BatchedRequest(prompt.token_ids, ANSWER_TOKENS, raw, stop_ids=self.model.stop_ids)
            for prompt, raw in zip(asked, params, strict=True)
        ]
        with ProbeSession(golds, reference) as probe:
            answers = self._in_random_order([*forced, *free], batches=2 if mode.name == AGAIN else 1)
        planned = [sum(segment.tokens for segment in each.segments) if each else 0 for each in injections]
        check_injected(mode, [*planned, *planned], answers)
        if any(answer.token_ids != gold for answer, gold in zip(answers[: len(golds)], golds, strict=True)):
            raise BenchError("the engine did not say the gold answers: the logits processor is not in use")
        assert probe.reference is not None
        rows = [
            self._row(prompts, mode, question, prompt, score, answer, tokens)
            for question, prompt, score, answer, tokens in zip(
                questions, asked, probe.scores(), answers[len(golds) :], planned, strict=True
            )
        ]
        return rows, probe.reference

    def _in_random_order(self, requests: list[BatchedRequest], *, batches: int) -> list[BatchedAnswer]:
        """The answers in the requests' own order."""
        order = self.rng.permutation(len(requests))
        answers: dict[int, BatchedAnswer] = {}
        for part in np.array_split(order, batches):
            answers |= zip(part.tolist(), self.engine.request_all([requests[i] for i in part]), strict=True)
        return [answers[index] for index in range(len(requests))]

    def _row(
        self,
        prompts: ConversationPrompts,
        mode: Mode,
        question: Question,
        prompt: Prompt,
        score: GoldScores,
        answer: BatchedAnswer,
        injected: int,
    ) -> QuestionRow:
        text = prompts.template.tokenizer.decode(answer.token_ids, skip_special_tokens=True).strip()
        return QuestionRow(
            conversation=prompts.conversation.name,
            question=question.number,
            category=question.category,
            mode=mode.name,
            kl=round(score.kl, 6),
            top1=score.top1,
            nll=round(-float(np.mean(score.log_likelihoods)), 6),
            gold_tokens=len(score.hits),
            gold_hits=sum(score.hits),
            f1=round(token_f1(text, question.gold), 6),
            prompt_tokens=len(prompt.token_ids),
            injected_tokens=injected,
            answer=text,
        )

    def _forget(self) -> None:
        """The conversation's blobs on disk; those in memory make room for the next ones'."""
        for key in list(self.blobs.keys()):
            self.blobs.delete(key)


def missing(conversation: Conversation, modes: Sequence[Mode], records: dict[int, Records]) -> list[tuple[Mode, int]]:
    """Modes and ks that were not asked yet; modes of one strategy adjoin."""
    found = [
        (mode, k)
        for mode in modes
        for k in records
        if not records[k].has(conversation.name, mode.name, len(conversation.questions))
    ]
    order = {mode.strategy: place for place, mode in reversed(list(enumerate(modes)))}
    return sorted(found, key=lambda item: order[item[0].strategy])


def check_injected(mode: Mode, planned: Sequence[int], answers: Sequence[BatchedAnswer]) -> None:
    """No prompt shares another's blocks, so what was not computed was injected. Raises InjectionError."""
    wrong = [(tokens, answer.cached_tokens) for tokens, answer in zip(planned, answers, strict=True)
             if answer.cached_tokens != tokens]  # fmt: skip
    if wrong:
        tokens, cached = wrong[0]
        raise InjectionError(
            f"{mode.name}: {len(wrong)} of {len(answers)} requests were not injected whole, {cached} tokens of {tokens}"
        )


def _kept(plan: EncodingPlan) -> tuple[PlannedSegment, ...]:
    """What an encode request keeps: its lines, or the header where it has none."""
    return plan.lines or ((plan.header,) if plan.header else ())


def gold_ids(template: ChatTemplate, question: Question) -> list[int]:
    ids: list[int] = template.tokenizer.encode(question.gold, add_special_tokens=False)
    return ids[:GOLD_TOKENS]


def load_model(folder: Path, *, pass_tokens: int) -> Model:
    """Raises TemplateUnsupported, OSError."""
    from transformers import AutoTokenizer

    tokenizer = AutoTokenizer.from_pretrained(str(folder))
    return Model(ChatTemplate(tokenizer), model_fingerprint(folder), stop_ids(folder, tokenizer), pass_tokens)


def stop_ids(folder: Path, tokenizer: Any) -> tuple[int, ...]:
    """The tokens that end an answer, by the model's own defaults and its tokenizer."""
    from transformers import GenerationConfig

    try:
        configured = GenerationConfig.from_pretrained(str(folder)).eos_token_id
    except OSError:
        configured = None
    listed = configured if isinstance(configured, list) else [configured]
    return tuple(dict.fromkeys(int(token) for token in [*listed, tokenizer.eos_token_id] if token is not None))
