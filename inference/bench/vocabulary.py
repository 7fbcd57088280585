"""Fits a byte-level BPE tokenizer to another vocabulary's size: random weights answer with any id there is."""

from typing import Any


def resize_vocabulary(tokenizer: dict[str, Any], size: int) -> dict[str, Any]:
    """A copy of tokenizer.json's content in which the ids are exactly 0 to `size` - 1.

    A larger vocabulary gets words that no text is split into, a smaller one loses its rarest, and the merges that make
    them. Raises ValueError when so few ids would not hold the bytes and special tokens.
    """
    model = tokenizer["model"]
    vocabulary: dict[str, int] = model["vocab"]
    by_id = sorted(vocabulary, key=vocabulary.__getitem__)
    special = {token["content"]: token["id"] for token in tokenizer.get("added_tokens", ())}
    if lost := [word for word in by_id[size:] if len(word) == 1 or word in special]:
        raise ValueError(f"{size} ids are too few: {lost[0]!r} would have none")
    kept = by_id[:size] + [f"~{number}~" for number in range(len(by_id), size)]
    words = {word: number for number, word in enumerate(kept)}
    if len(words) != size:
        raise ValueError("the vocabulary has a word of the form ~number~")
    merges = [pair for pair in model["merges"] if _is_made(pair, words)]
    return {**tokenizer, "model": {**model, "vocab": words, "merges": merges}}


def _is_made(pair: list[str] | str, words: dict[str, int]) -> bool:
    left, right = pair.split(" ") if isinstance(pair, str) else pair
    return left in words and right in words and left + right in words
