"""Shape of a token's KV across layers: one row a token, `[layer 0 K, layer 0 V, layer 1 K, ...]`."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import torch

DTYPES = {"bfloat16": torch.bfloat16, "float16": torch.float16, "float32": torch.float32}
FP8 = torch.float8_e4m3fn
FP8_MAX = 448.0
SCALE_BYTES = 4
ROW_ALIGNMENT = 16

RowDtype = Literal["auto", "fp8"]


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
    """All attention layers of one rank, in model order. `dtype` is a key of DTYPES, that of the values.

    Rows are kept as `row_dtype` says: `auto` as the values themselves; `fp8` as bytes, first the elements in e4m3, then
    one float32 scale for each head of K and V of each layer, in the same order, padded to 16 bytes.
    """

    layers: tuple[LayerShape, ...]
    dtype: str
    row_dtype: RowDtype = "auto"

    def __post_init__(self) -> None:
        if not self.layers:
            raise ValueError("a KV layout needs at least one attention layer")
        if self.dtype not in DTYPES:
            raise ValueError(f"KV is computed in {', '.join(DTYPES)}, not {self.dtype}")
        if self.row_dtype not in ("auto", "fp8"):
            raise ValueError(f"KV rows are kept as auto or fp8, not {self.row_dtype}")

    @property
    def value_dtype(self) -> torch.dtype:
        return DTYPES[self.dtype]

    @property
    def stored_dtype(self) -> torch.dtype:
        """Of stored rows `[tokens, row_width]`."""
        return torch.uint8 if self.row_dtype == "fp8" else self.value_dtype

    @cached_property
    def row_elements(self) -> int:
        return sum(2 * layer.elements for layer in self.layers)

    @cached_property
    def row_scales(self) -> int:
        return sum(2 * layer.kv_heads for layer in self.layers)

    @cached_property
    def row_width(self) -> int:
        """Elements of `stored_dtype` in a stored row."""
        if self.row_dtype == "auto":
            return self.row_elements
        return -(-(self.scales_at + self.row_scales * SCALE_BYTES) // ROW_ALIGNMENT) * ROW_ALIGNMENT

    @cached_property
    def scales_at(self) -> int:
        """Byte of an fp8 row where the scales begin."""
        return -(-self.row_elements // ROW_ALIGNMENT) * ROW_ALIGNMENT

    @property
    def row_bytes(self) -> int:
        return self.row_width * self.stored_dtype.itemsize

    def pack(self, layers: list[tuple[torch.Tensor, torch.Tensor]]) -> torch.Tensor:
        """Stored rows `[tokens, row_width]` of each layer's K and V `[tokens, kv_heads, head_dim]`."""
        parts = [part for pair in layers for part in pair]
        if self.row_dtype == "auto":
            return torch.cat([part.flatten(1) for part in parts], dim=1).to(self.value_dtype)
        rows = torch.zeros(parts[0].shape[0], self.row_width, dtype=torch.uint8, device=parts[0].device)
        element, scale = 0, self.scales_at
        for part in parts:
            values = part.float()
            scales = values.abs().amax(dim=2).clamp_min(torch.finfo(torch.float32).tiny) / FP8_MAX
            small = (values / scales[:, :, None]).clamp(-FP8_MAX, FP8_MAX).to(FP8).flatten(1)
            rows[:, element : element + small.shape[1]] = small.view(torch.uint8)
            packed = scales.contiguous().view(torch.uint8)
            rows[:, scale : scale + packed.shape[1]] = packed
            element, scale = element + small.shape[1], scale + packed.shape[1]
        return rows

    def columns(self, layer: int) -> tuple[slice, ...]:
        """Where a layer's part of stored rows lies: its K and V and, with fp8, its scales."""
        shape = self.layers[layer]
        element, scale = self._element_at[layer], self._scale_at[layer]
        elements = slice(element, element + 2 * shape.elements)
        if self.row_dtype == "auto":
            return (elements,)
        return elements, slice(scale, scale + 2 * shape.kv_heads * SCALE_BYTES)

    def unpack(self, layer: int, *parts: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """K and V `[tokens, kv_heads, head_dim]` from a layer's columns; views of them where `row_dtype` is auto."""
        shape, stored = self.layers[layer], parts[0]
        pair = (stored.shape[0], 2, shape.kv_heads, shape.head_dim)
        if self.row_dtype == "auto":
            values = stored.view(pair)
        else:
            scales = parts[1].contiguous().view(torch.float32).view(*pair[:3], 1)
            values = (stored.contiguous().view(FP8).view(pair).float() * scales).to(self.value_dtype)
        return values[:, 0], values[:, 1]

    def layer_of(self, rows: torch.Tensor, layer: int) -> tuple[torch.Tensor, torch.Tensor]:
        """K and V `[tokens, kv_heads, head_dim]` of one layer of stored rows `[tokens, row_width]`."""
        return self.unpack(layer, *(rows[:, columns] for columns in self.columns(layer)))

    @cached_property
    def _element_at(self) -> list[int]:
        return _starts([2 * layer.elements for layer in self.layers], 0)

    @cached_property
    def _scale_at(self) -> list[int]:
        return _starts([2 * layer.kv_heads * SCALE_BYTES for layer in self.layers], self.scales_at)

    def describe(self) -> str:
        """Stable text form, stored with every blob and compared on load."""
        stored = "" if self.row_dtype == "auto" else f"{self.row_dtype}/"
        return f"{stored}{self.dtype}:" + ",".join(f"{layer.kv_heads}x{layer.head_dim}" for layer in self.layers)


def _starts(sizes: list[int], first: int) -> list[int]:
    starts = []
    for size in sizes:
        starts.append(first)
        first += size
    return starts
