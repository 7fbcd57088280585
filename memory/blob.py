"""A blob: the KV of one segment, immutable under its key."""

from dataclasses import dataclass

import torch

from memory.layout import KVLayout


@dataclass(frozen=True)
class BlobInfo:
    """What is known of a blob without its rows."""

    key: str
    tokens: int
    start: int
    digest: str
    layout: str
    fingerprint: str
    nbytes: int


@dataclass(frozen=True)
class Blob:
    """`rows` `[tokens, row_width]` as stored by KVLayout; keys turned as at positions `start`, `start + 1`, ...

    `digest` is of the tokens the rows were computed from; `fingerprint` names the model that did.
    """

    key: str
    rows: torch.Tensor
    start: int
    digest: str
    layout: str
    fingerprint: str

    @property
    def tokens(self) -> int:
        return int(self.rows.shape[0])

    @property
    def nbytes(self) -> int:
        return self.rows.numel() * self.rows.element_size()

    @property
    def info(self) -> BlobInfo:
        return BlobInfo(self.key, self.tokens, self.start, self.digest, self.layout, self.fingerprint, self.nbytes)

    def fits(self, layout: KVLayout, fingerprint: str) -> bool:
        """Whether these rows are the running model's: same layers, dtype, weights."""
        return (
            self.layout == layout.describe()
            and self.fingerprint == fingerprint
            and self.rows.shape[1] == layout.row_width
            and self.rows.dtype == layout.stored_dtype
        )
