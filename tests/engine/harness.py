"""A vLLM engine in this process's children, with the connector, driven by token ids."""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from inference.engine.server import kv_transfer
from memory.contracts import EncodeParams, InjectParams, Segment, Span
from memory.digest import token_digest
from memory.models import resolve_model
from memory.store import BlobStore

HEADER = "<|im_start|>system\nYou know these facts about Ann. Memories:\n"
QUESTION = "End.<|im_end|>\n<|im_start|>user\nWhat is the name of Ann's parrot?<|im_end|>\n<|im_start|>assistant\n"
PETS = [("dog", "Rex", "Oslo"), ("cat", "Mia", "Paris"), ("horse", "Star", "Rome"), ("parrot", "Kiwi", "Lima")]
FACTS = [f"- Note {i}: Ann's {pet} is called {name} and lives in {town}.\n" for i, (pet, name, town) in
         enumerate(PETS * 8)]  # fmt: skip


def key_of(name: str, number: int) -> str:
    return token_digest([*name.encode(), number]) * 2


@dataclass(frozen=True)
class Answer:
    text: str
    token_ids: list[int]
    logprobs: list[float]
    """Of the tokens chosen."""
    cached_tokens: int
    params: dict[str, Any] | None


class Engine:
    """`with Engine(store, **vllm_arguments)`; one at a time."""

    def __init__(self, home: Path, store: Path, *, connector: dict[str, Any] | None = None, **arguments: Any) -> None:
        from vllm import LLM
        from vllm.config import KVTransferConfig

        extra = {"store": str(store), "host_bytes": 1 << 30, **(connector or {})}
        transfer = KVTransferConfig(**kv_transfer(extra))
        defaults = {"enforce_eager": True, "max_model_len": 2048, "max_num_seqs": 8, "disable_log_stats": False}
        model = str(resolve_model("demo", home))
        self.llm = LLM(model, kv_transfer_config=transfer, **{**defaults, **arguments})
        self.tokenizer = self.llm.get_tokenizer()
        self.store = store
        self.salts = 0

    def __enter__(self) -> "Engine":
        return self

    def __exit__(self, *_: object) -> None:
        self.llm.llm_engine.engine_core.shutdown()

    def tokens(self, text: str) -> list[int]:
        return self.tokenizer.encode(text, add_special_tokens=False)

    def ask(
        self,
        ids: Sequence[int],
        params: Any = None,
        *,
        salt: str | None = None,
        max_tokens: int = 16,
        priority: int = 0,
    ) -> Answer:
        return self.ask_all([ids], [params], salt=salt, max_tokens=max_tokens, priorities=[priority])[0]

    def ask_all(
        self,
        prompts: Sequence[Sequence[int]],
        params: Sequence[Any],
        *,
        salt: str | None = None,
        max_tokens: int | Sequence[int] = 16,
        priorities: Sequence[int] | None = None,
    ) -> list[Answer]:
        """In one batch. Without a salt each call gets a new one, so that no call sees another's blocks."""
        from vllm import SamplingParams

        self.salts += 1
        salt = salt or f"salt-{self.salts}"
        counts = [max_tokens] * len(prompts) if isinstance(max_tokens, int) else max_tokens
        sampling = [
            SamplingParams(
                temperature=0,
                max_tokens=count,
                logprobs=1,
                ignore_eos=count > 64,
                extra_args={"kv_transfer_params": raw} if raw is not None else None,
            )
            for raw, count in zip(params, counts, strict=True)
        ]
        inputs: list[Any] = [{"prompt_token_ids": list(ids), "cache_salt": salt} for ids in prompts]
        outputs = self.llm.generate(inputs, sampling, use_tqdm=False, priority=priorities and list(priorities))
        return [self._answer(output) for output in outputs]

    def metric(self, name: str) -> float:
        metrics: list[Any] = self.llm.get_metrics()
        return float(sum(metric.value for metric in metrics if metric.name == name))

    @staticmethod
    def _answer(output: Any) -> Answer:
        completion = output.outputs[0]
        chosen = [step[token].logprob for token, step in zip(completion.token_ids, completion.logprobs, strict=True)]
        return Answer(
            completion.text, list(completion.token_ids), chosen, output.num_cached_tokens, output.kv_transfer_params
        )


def inject(segments: Sequence[Segment]) -> dict[str, Any]:
    return InjectParams("tenant", tuple(segments)).to_params()


class Prompt:
    """Header, facts in an order, question; segments named by `name`, each fact's key the same in every order."""

    def __init__(self, engine: Engine, name: str, order: Sequence[int] | None = None) -> None:
        order = range(len(FACTS)) if order is None else order
        self.name = name
        pieces = {-1: engine.tokens(HEADER), **{i: engine.tokens(FACTS[i]) for i in order}}
        self.segments = [(key_of(name, i), ids) for i, ids in pieces.items()]
        self.prefix = [token for _, ids in self.segments for token in ids]
        self.ids = [*self.prefix, *engine.tokens(QUESTION)]

    @property
    def encode(self) -> dict[str, Any]:
        spans, at = [], 0
        for key, ids in self.segments:
            spans.append(Span(key, at, at + len(ids)))
            at += len(ids)
        return EncodeParams("tenant", tuple(spans)).to_params()

    @property
    def offered(self) -> list[Segment]:
        return [Segment(key, len(ids), token_digest(ids)) for key, ids in self.segments]

    @property
    def inject(self) -> dict[str, Any]:
        return inject(self.offered)

    @property
    def keys(self) -> list[str]:
        return [key for key, _ in self.segments]


def wait_until_written(blobs: BlobStore, keys: Sequence[str]) -> None:
    """Writing to disk goes on behind the answer."""
    deadline = time.monotonic() + 10
    while not all(blobs.verify(key) for key in keys):
        assert time.monotonic() < deadline, "blobs were not written"
        time.sleep(0.05)


def assert_same(found: torch.Tensor, expected: torch.Tensor) -> None:
    """Bit for bit; where a matrix product's rows depend on how many there are (AMX), as near as that allows."""
    if not torch.cpu.get_capabilities().get("amx_bf16"):
        assert torch.equal(found, expected)
    error = (found.float() - expected.float()).abs()
    assert float(error.mean()) < 0.02 * float(expected.float().abs().mean())
