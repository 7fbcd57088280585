"""A text's tokens with their places in it."""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any


@dataclass(frozen=True, slots=True)
class TokenSpan:
    """Tokens `[start, end)` of a prompt."""

    start: int
    end: int

    def __len__(self) -> int:
        return self.end - self.start

    def of(self, token_ids: Sequence[int]) -> list[int]:
        return list(token_ids[self.start : self.end])


@dataclass(frozen=True, slots=True)
class TokenizedText:
    """Ids of a text and, for each token, where it ends: a character offset, never falling."""

    ids: list[int]
    ends: list[int]

    def boundary(self, character: int) -> int:
        """Index of the first token that reaches beyond `character`.

        Some tokenizers trim white space from offsets, so that a line's newline becomes an empty range at the next
        line's start: only a token's end tells to which side it belongs.
        """
        return bisect_right(self.ends, character)

    def spans(self, characters: Sequence[int]) -> tuple[TokenSpan, ...]:
        """Spans between consecutive character offsets."""
        return tuple(TokenSpan(start, end) for start, end in pairwise(map(self.boundary, characters)))


def tokenize(tokenizer: Any, text: str) -> TokenizedText:
    """Tokenise a rendered prompt as a whole, adding no special tokens. `tokenizer` is a fast Hugging Face one."""
    encoding = tokenizer.backend_tokenizer.encode(text, add_special_tokens=False)
    return TokenizedText(encoding.ids, list(accumulate((end for _, end in encoding.offsets), max)))
