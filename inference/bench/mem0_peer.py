"""The peer: Mem0's open-source library finds the facts, and they are pasted into the same engine's prompt."""

import os
import random
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

import torch

from inference.bench.chat import ChatClient, Mode, TimedAnswer
from inference.bench.errors import BenchError
from memory.prompt.block import memory_block
from memory.text import fact_line

DIM = 384
THRESHOLD = 0.0
EMBEDDING_THREADS = 1  # on few cores several would wait for each other behind the engine's own, to the peer's harm


class Mem0Memory:
    """Facts of one user in Mem0's FAISS store under `folder`, with the embedding model of the product."""

    def __init__(self, folder: Path, embedding_model: Path, user: str) -> None:
        """Raises BenchError when the library is missing."""
        os.environ["MEM0_TELEMETRY"] = "False"
        os.environ["MEM0_DIR"] = str(folder)
        os.environ.setdefault("HF_HUB_OFFLINE", "1")
        try:
            from mem0 import Memory
        except ImportError as error:
            raise BenchError(f"mode mem0 needs Mem0's library: pip install 'inferscale[bench]' ({error})") from error
        torch.set_num_threads(EMBEDDING_THREADS)
        self.user = user
        self.memory: Any = Memory.from_config(
            {
                "vector_store": {
                    "provider": "faiss",
                    "config": {
                        "collection_name": "bench",
                        "path": str(folder / "faiss"),
                        "distance_strategy": "cosine",
                        "embedding_model_dims": DIM,
                    },
                },
                "embedder": {
                    "provider": "huggingface",
                    "config": {"model": str(embedding_model), "embedding_dims": DIM},
                },
                "llm": {"provider": "openai", "config": {"api_key": "never asked"}},
                "history_db_path": str(folder / "history.db"),
            }
        )

    def add(self, facts: Sequence[str]) -> None:
        """Stored as they are, with nothing extracted."""
        messages = [{"role": "user", "content": fact} for fact in facts]
        self.memory.add(messages, user_id=self.user, infer=False)

    def find(self, question: str, k: int) -> list[str]:
        """The best first."""
        found = self.memory.search(question, top_k=k, filters={"user_id": self.user}, threshold=THRESHOLD)
        return [str(item["memory"]) for item in found["results"]]


def ask_with_mem0(
    client: ChatClient, memory: Mem0Memory, question: str, *, k: int, max_tokens: int, ignore_eos: bool = False
) -> TimedAnswer:
    """From the question to the first token, search included; facts in a random order, as for the other modes.

    The memory block has the form the gateway gives it, so prompts are equally long. Raises as `ChatClient.chat`, and
    BenchError when the library does not find so many facts.
    """
    mode: Mode = "mem0"
    started = perf_counter()
    facts = memory.find(question, k)
    if len(facts) != k:
        raise BenchError(f"Mem0 found {len(facts)} facts, not {k}")
    random.shuffle(facts)
    messages = [
        {"role": "system", "content": memory_block([fact_line(fact) for fact in facts])},
        {"role": "user", "content": question},
    ]
    return client.chat(messages, mode, top_k=k, max_tokens=max_tokens, ignore_eos=ignore_eos, started=started)
