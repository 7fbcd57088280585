"""A rendered prompt's ids without their places in the text: the longest step of planning a chat."""

from collections.abc import Callable
from functools import partial
from typing import Any

from fastokens import Tokenizer

TokenIds = Callable[[str], list[int]]

PROBES = (
    "Below is what you remember.\n- Ann's dog, Bruno, weighs 12.5 kg!\n\n  - «no way»: 東京 🙂\n",
    "e\u0301\u200b\u00a0x\r\n\t…\n",
    " leading and trailing \n ",
    "def f(x):\n    return x**2 + 1234567890  # I'll, we've, it's\n" * 40,
    "\ufeff\u0000 naïve façade, Straße, Привет, שלום, مرحبا, नमस्ते, 안녕하세요 👩\u200d👩\u200d👧",
    "",
)


def token_ids_of(tokenizer: Any) -> TokenIds:
    """Adds no special tokens. `tokenizer` is a fast Hugging Face one. By fastokens where that is as good."""
    return quick_ids_of(tokenizer) or partial(_own_ids, tokenizer.backend_tokenizer)


def quick_ids_of(tokenizer: Any) -> TokenIds | None:
    """By fastokens, six times as fast; None where that does not take the tokenizer or gives other ids for a probe."""
    own: TokenIds = partial(_own_ids, tokenizer.backend_tokenizer)
    try:
        quick: TokenIds = partial(_quick_ids, Tokenizer.from_json_str(tokenizer.backend_tokenizer.to_str()))
        added = list(tokenizer.get_added_vocab())
        probes = [*PROBES, "".join(added), " a ".join(added)]
        if all(quick(text) == own(text) for text in probes):
            return quick
    except Exception:  # kinds that it does not know; it says so in several ways
        pass
    return None


def _quick_ids(tokenizer: Tokenizer, text: str) -> list[int]:
    return list(tokenizer.encode(text, add_special_tokens=False).ids)


def _own_ids(backend: Any, text: str) -> list[int]:
    ids: list[int] = backend.encode_batch_fast([text], add_special_tokens=False)[0].ids
    return ids
