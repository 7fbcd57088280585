"""Turning a stretch of keys to their new positions, with the kernel that is fastest where the cache lies."""

from collections.abc import Callable

import torch
from vllm import _custom_ops as ops

from memory.rope import Rotation

Turn = Callable[[torch.Tensor], torch.Tensor]
"""Keys `[tokens, kv_heads, head_dim]` in, turned keys out, contiguous, valid until the next call; the input stays."""


def turn_by(rotation: Rotation, delta: torch.Tensor, device: torch.device) -> Turn:
    """`delta` `[tokens]`: how far each token is moved. The same turn serves every layer."""
    if not bool(delta.any()):
        return torch.Tensor.contiguous
    cos, sin = (table.to(device) for table in rotation.unit_tables(delta))
    if device.type == "cpu":
        return _by_vllm(rotation, cos, sin)

    def turned(keys: torch.Tensor) -> torch.Tensor:
        keys = keys.clone(memory_format=torch.contiguous_format)
        rotation.turn_(keys, cos, sin)
        return keys

    return turned


def _by_vllm(rotation: Rotation, cos: torch.Tensor, sin: torch.Tensor) -> Turn:
    """vLLM's own CPU kernel, one pass over a layer: the table has a row a token, and keys go through it in float32."""
    table, rows = torch.cat([cos, sin], dim=1), torch.arange(cos.shape[0])
    # One pair of buffers for all layers: fresh megabytes for each would cost their page faults.
    wide, out = torch.empty(0), torch.empty(0)

    def turned(keys: torch.Tensor) -> torch.Tensor:
        nonlocal wide, out
        if out.shape != keys.shape:
            wide, out = torch.empty(keys.shape), torch.empty(keys.shape, dtype=keys.dtype)
        wide.copy_(keys)
        ops.rotary_embedding(rows, wide.flatten(1), None, keys.shape[2], table, rotation.is_neox)
        return out.copy_(wide)

    return turned
