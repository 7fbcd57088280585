"""Reads answer-token distributions inside the engine, and makes a request answer with given tokens.

vLLM's own prompt log-probabilities compute the whole prompt, so nothing would be injected; and a distribution over a
whole vocabulary is slow as Python objects. So this is a logits processor: one row of logits a step, on the device.
"""

from typing import Any

import torch
from vllm import SamplingParams
from vllm.config import VllmConfig
from vllm.v1.sample.logits_processor import BatchUpdate, LogitsProcessor
from vllm.v1.sample.logits_processor.builtin import process_dict_updates

from inference.bench.accuracy.teacher import ARGUMENT, ProbeSession


class AnswerProbe(LogitsProcessor):
    """Rows of requests that name a question of the current session; the engine core must run in the same process."""

    def __init__(self, vllm_config: VllmConfig, device: torch.device, is_pin_memory: bool) -> None:
        self._asked: dict[int, tuple[int, list[int]]] = {}

    def is_argmax_invariant(self) -> bool:
        return False

    def update_state(self, batch_update: BatchUpdate | None) -> None:
        process_dict_updates(self._asked, batch_update, _question)

    def apply(self, logits: torch.Tensor) -> torch.Tensor:
        if self._asked and ProbeSession.current is not None:
            rows = sorted(self._asked)
            questions = [self._asked[row][0] for row in rows]
            ProbeSession.current.read(logits, rows, questions, [len(self._asked[row][1]) for row in rows])
        return logits


def _question(params: SamplingParams, _: list[int] | None, said: list[int]) -> tuple[int, list[int]] | None:
    """The question's number and the tokens it has been answered with, a list that grows."""
    arguments: dict[str, Any] = params.extra_args or {}
    return (arguments[ARGUMENT], said) if ARGUMENT in arguments else None
