"""What a gateway process loads once."""

import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import torch
from django.conf import settings
from facts.embedding import vector_dim
from facts.retrieval import SnapshotCache

from inference.gateway.metrics import MISMATCHED_SEGMENTS
from memory.models import resolve_model
from memory.prompt import ChatTemplate
from memory.served import ServedModel, load_served_model

logger = logging.getLogger(__name__)


@dataclass
class Runtime:
    """`golden` says whether injection is allowed: pending (not yet), passed, or failed."""

    model: ServedModel
    max_model_len: int
    snapshots: SnapshotCache
    golden: str = "pending"
    mismatched_segments: int = field(default=0)

    @property
    def template(self) -> ChatTemplate:
        return self.model.template

    @property
    def may_inject(self) -> bool:
        return self.golden == "passed"

    def count_mismatch(self, key: str, segments: int) -> None:
        """Segments whose prompt tokens are not those encoded: served as text."""
        if self.mismatched_segments == 0:
            logger.warning("blob %s was encoded from other tokens than the prompt has; it is sent as text", key)
        self.mismatched_segments += segments
        MISMATCHED_SEGMENTS.inc(segments)


def load_runtime(*, max_model_len: int, chat_template: str | None = None) -> Runtime:
    """Takes seconds, reads the model's tokenizer and the embedding model. Raises TemplateUnsupported."""
    torch.set_num_threads(2)  # a question is too short for more, should torch embed it
    folder = resolve_model(settings.ENV.model, settings.ENV.home)
    dtypes = {"kv_cache_dtype": settings.ENV.kv_cache_dtype, "row_dtype": settings.ENV.kv_row_dtype}
    ranks = settings.ENV.tensor_parallel_size
    with plain_tokenizers():
        model = load_served_model(folder, **dtypes, ranks=ranks, chat_template=chat_template)
        vector_dim(settings.ENV.embedding_model)  # without vectors facts are chosen by age
    snapshots = SnapshotCache(dim_of=vector_dim, fingerprint=model.fingerprint, line=model.template.line)
    logger.info("memory stands in the %s message; model %s", model.template.placement, model.blob_fingerprint)
    return Runtime(model, max_model_len, snapshots)


@contextmanager
def plain_tokenizers() -> Iterator[None]:
    """Tokenizers loaded meanwhile are transformers' own, also where vLLM was told to have fastokens in their place.

    The embedding model's does not load otherwise, and the prompt's is to be asked what the swap must not change.
    """
    if os.environ.get("VLLM_USE_FASTOKENS", "0") != "1":
        yield
        return
    import fastokens

    fastokens.unpatch_transformers()
    try:
        yield
    finally:
        fastokens.patch_transformers()


def read_template(argument: str | None) -> str | None:
    """vLLM's --chat-template: a file's name or the template itself."""
    if not argument:
        return None
    is_file = len(argument) < 4096 and "\n" not in argument and Path(argument).is_file()
    return Path(argument).read_text() if is_file else argument


def server_setting(server: Any, name: str) -> Any:
    """An argument vLLM's API server was started with, None when it does not tell."""
    return getattr(getattr(getattr(server, "state", None), "args", None), name, None)
