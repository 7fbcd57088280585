"""Where a backend puts each element of a KV block, learnt by writing known values and reading them back.

Backends differ in layout and some pack keys in an instruction set's order. Instead of knowing them all, the
backend's own writer is fed every element's number, one base-8 digit a write: digits 0 to 7 are exact in
bfloat16 and in fp8, so the map holds for any dtype, head size and block size.
"""

from collections.abc import Callable

import torch

BASE = 8

Write = Callable[[torch.Tensor, torch.Tensor], None]
"""Write K and V `[block_size, kv_heads, head_dim]` into the scratch block."""
Read = Callable[[], torch.Tensor]
"""The scratch block's elements as stored, flat, in float32."""


class LayoutUnknown(ValueError):
    """The backend does not keep each element of K and V once."""


def learn_block_map(write: Write, read: Read, *, block_size: int, kv_heads: int, head_dim: int) -> torch.Tensor:
    """Index, int64 `[block_size, 2, kv_heads, head_dim]`, of each K and V element in a flat block.

    Raises LayoutUnknown.
    """
    shape = (block_size, 2, kv_heads, head_dim)
    count = block_size * 2 * kv_heads * head_dim
    numbers = torch.arange(count).view(shape)

    def store(values: torch.Tensor) -> torch.Tensor:
        write(values[:, 0].contiguous(), values[:, 1].contiguous())
        return read().round().to(torch.int64).cpu()

    empty = store(torch.zeros(shape))
    live = (store(torch.full(shape, BASE - 1)) != empty).nonzero().flatten()
    found = torch.zeros(live.numel(), dtype=torch.int64)
    place = 1
    while place < count:
        found += store(((numbers // place) % BASE).float())[live] * place
        place *= BASE
    if live.numel() != count or not torch.equal(found.sort().values, torch.arange(count)):
        raise LayoutUnknown(f"{live.numel()} stored elements for {count} of K and V")
    index = torch.empty(count, dtype=torch.int64)
    index[found] = live
    return index.view(shape)
