"""Chunked RoPE: keys encoded at one position, turned to another (the paper's Theorem 6).

Under rotary embedding a key at position p is `R(p) k`, and `R(q) = R(q - p) R(p)`: turning a stored key by
`q - p` gives the key the model would have computed at q. It holds for every variant whose angle is a
position times a fixed frequency. A magnitude (YaRN's) is already in the stored key, so turning uses unit cos and sin.
"""

from dataclasses import dataclass

import torch


@dataclass(frozen=True)
class Rotation:
    """A position-linear rotary embedding.

    `inv_freq` is float32 `[rotary_dim / 2]`, radians a position. `is_neox` pairs element i with
    i + rotary_dim / 2; otherwise neighbours 2i and 2i + 1 are paired. Elements past `rotary_dim` do not turn.
    """

    inv_freq: torch.Tensor
    is_neox: bool

    @property
    def rotary_dim(self) -> int:
        return 2 * self.inv_freq.numel()

    def unit_tables(self, delta: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """cos and sin, float32 `[tokens, rotary_dim / 2]`, for position differences `delta` `[tokens]`.

        Angles are formed in float64: a float32 product of a large position and a small frequency is off by
        more than a bfloat16 key can hide.
        """
        angles = delta.to(torch.float64)[:, None] * self.inv_freq.to(torch.float64)[None, :]
        return angles.cos().to(torch.float32), angles.sin().to(torch.float32)

    def turn_(self, keys: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> None:
        """Turn keys `[tokens, ..., head_dim]` in place, in float32, rounding once to their dtype."""
        shape = (cos.shape[0], *([1] * (keys.dim() - 2)), cos.shape[1])
        cos, sin = cos.view(shape), sin.view(shape)
        first, second = self._halves(keys)
        x, y = first.float(), second.float()
        turned = torch.addcmul(x * cos, y, sin, value=-1), torch.addcmul(y * cos, x, sin)
        first.copy_(turned[0])  # only now: float32 keys are their own x and y
        second.copy_(turned[1])

    def _halves(self, keys: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        turned = keys[..., : self.rotary_dim]
        if self.is_neox:
            half = self.rotary_dim // 2
            return turned[..., :half], turned[..., half:]
        return turned[..., 0::2], turned[..., 1::2]
