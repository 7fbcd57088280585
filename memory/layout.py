"""Shape of a token's KV across layers: one row a token, `[layer 0 K, layer 0 V, layer 1 K, ...]`."""

from dataclasses import dataclass
from functools import cached_property

import torch

DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}


@dataclass(frozen=True)
class LayerShape:
    """One attention layer's K (and V) of one token: `[kv_heads, head_dim]`, on this rank."""

    kv_heads: int
    head_dim: int

    @property
    def elements(self) -> int:
        return self.kv_heads * self.head_dim


@dataclass(frozen=True)
class KVLayout:
    """All attention layers of one rank, in model order. `dtype` is a key of DTYPES."""

    layers: tuple[LayerShape, ...]
    dtype: str

    def __post_init__(self) -> None:
        if not self.layers:
            raise ValueError("a KV layout needs at least one attention layer")
        if self.dtype not in DTYPES:
            raise ValueError(f"KV rows are kept as {', '.join(DTYPES)}, not {self.dtype}")

    @property
    def torch_dtype(self) -> torch.dtype:
        return DTYPES[self.dtype]

    @cached_property
    def row_elements(self) -> int:
        return sum(2 * layer.elements for layer in self.layers)

    def layer_views(self, rows: torch.Tensor) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """K and V of each layer as views `[tokens, kv_heads, head_dim]` into rows `[tokens, row_elements]`."""
        views, at = [], 0
        for layer in self.layers:
            shape = (rows.shape[0], layer.kv_heads, layer.head_dim)
            key = rows[:, at : at + layer.elements].view(shape)
            value = rows[:, at + layer.elements : at + 2 * layer.elements].view(shape)
            views.append((key, value))
            at += 2 * layer.elements
        return views

    def describe(self) -> str:
        """Stable text form, stored with every blob and compared on load."""
        return f"{self.dtype}:" + ",".join(f"{layer.kv_heads}x{layer.head_dim}" for layer in self.layers)
