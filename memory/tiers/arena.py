"""Preallocated memory for rows. Owned by a worker half, which only executes what the books decide."""

import torch

from memory.layout import KVLayout


class Arena:
    """`rows` `[capacity, row_width]`, stored as the layout says; `tiers.books` knows which blob lies where."""

    def __init__(self, layout: KVLayout, capacity: int, device: torch.device, *, pinned: bool = False) -> None:
        """`pinned`: page-locked, so that a GPU reads it directly. Raises what torch raises when memory is short."""
        self.layout = layout
        self.rows = torch.zeros(capacity, layout.row_width, dtype=layout.stored_dtype, device=device, pin_memory=pinned)

    def write(self, numbers: torch.Tensor, rows: torch.Tensor) -> None:
        """Stored rows `[tokens, row_width]` into row numbers `[tokens]`, both on the arena's device."""
        self.rows.index_copy_(0, numbers, rows)

    def layer(self, numbers: torch.Tensor, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
        """One layer's K and V `[tokens, kv_heads, head_dim]` of row numbers `[tokens]`, copied."""
        parts = (self.rows[:, columns].index_select(0, numbers) for columns in self.layout.columns(layer))
        return self.layout.unpack(layer, *parts)

    def erase(self, numbers: torch.Tensor) -> None:
        self.rows.index_fill_(0, numbers, 0)
