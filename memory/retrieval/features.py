"""What a sentence-transformers model reads: token ids and masks of a batch of texts."""

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import numpy as np
import torch
from sentence_transformers import SentenceTransformer
from tokenizers import Tokenizer

from memory.retrieval.forward import Features

MULTIPLE = 16  # tokens a row is padded to: on a CPU each new shape costs as much again as a short question
PROBES = (
    ["How many?", "How long is a vector, and what is a vector?"],
    [" A sentence. " * 400, "", "Ünï 🙂"],
    ["[MASK]"],
)

LONGEST = 1 << 30  # tokens, for a model that does not say

MakeFeatures = Callable[[Sequence[str]], Features]


def features_of(model: SentenceTransformer) -> MakeFeatures:
    """The short way where it gives what the model's own does; any thread may call either."""
    own = OwnFeatures(model)
    try:
        short = ShortFeatures(model, own(PROBES[0]), longest=model.max_seq_length or LONGEST)
        if all(_equal(short(texts), own(texts)) for texts in PROBES):
            return short
    except (AttributeError, KeyError, TypeError):  # no fast tokenizer, or not the model's only input
        pass
    return own


class OwnFeatures:
    def __init__(self, model: SentenceTransformer) -> None:
        self._model, self._one_at_a_time = model, Lock()
        multiple = _multiple(model)
        self._padding = {"text": {"pad_to_multiple_of": multiple}} if multiple else {}

    def __call__(self, texts: Sequence[str]) -> Features:
        with self._one_at_a_time:  # a fast tokenizer that is set to pad cannot be used by two threads
            return dict(self._model.preprocess(list(texts), processing_kwargs=self._padding))


class ShortFeatures:
    """The model's tokenizer without what surrounds it, which takes four times as long for a question."""

    def __init__(self, model: SentenceTransformer, example: Features, *, longest: int) -> None:
        tokenizer: Any = model.tokenizer
        self._tokenizer = Tokenizer.from_str(tokenizer.backend_tokenizer.to_str())
        self._tokenizer.enable_truncation(longest)
        self._tokenizer.enable_padding(
            direction=tokenizer.padding_side,
            pad_id=tokenizer.pad_token_id,
            pad_type_id=tokenizer.pad_token_type_id,
            pad_token=tokenizer.pad_token,
            pad_to_multiple_of=_multiple(model),
        )
        attributes = {"input_ids": "ids", "attention_mask": "attention_mask", "token_type_ids": "type_ids"}
        tensors = [name for name, value in example.items() if isinstance(value, torch.Tensor)]
        self._attributes = {name: attributes[name] for name in tensors}
        self._constants = {name: value for name, value in example.items() if name not in tensors}

    def __call__(self, texts: Sequence[str]) -> Features:
        rows = self._tokenizer.encode_batch_fast(list(texts))
        features: Features = dict(self._constants)
        for name, attribute in self._attributes.items():
            features[name] = torch.from_numpy(np.array([getattr(row, attribute) for row in rows], dtype=np.int64))
        return features


def _multiple(model: SentenceTransformer) -> int | None:
    """None where padding could make a row longer than the model reads."""
    longest = model.max_seq_length
    return MULTIPLE if longest and longest % MULTIPLE == 0 else None


def _equal(ours: Features, own: Features) -> bool:
    return ours.keys() == own.keys() and all(
        torch.equal(ours[name], value) if isinstance(value, torch.Tensor) else ours[name] == value
        for name, value in own.items()
    )
