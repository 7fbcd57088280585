"""Where a backend puts each element is learnt, whatever its order, and refused when elements are lost."""

import pytest
import torch

from inference.engine.blockmap import LayoutUnknown, learn_block_map

BLOCK, HEADS, DIM = 32, 3, 64
COUNT = BLOCK * 2 * HEADS * DIM


class Backend:
    """Keeps a block's elements in an order of its own, with unused elements between them."""

    def __init__(self, dtype: torch.dtype, *, spare: int = 0, lost: int = 0) -> None:
        order = torch.randperm(COUNT + spare, generator=torch.Generator().manual_seed(5))
        self.place = order[:COUNT]
        self.place[:lost] = self.place[lost : 2 * lost]
        self.stored = torch.full((COUNT + spare,), 3.0).to(dtype)

    def write(self, key: torch.Tensor, value: torch.Tensor) -> None:
        values = torch.stack([key, value], dim=1)  # [block, 2, heads, dim]
        stored = self.stored.float()  # fp8 has no indexed write
        stored[self.place] = values.flatten().float()
        self.stored = stored.to(self.stored.dtype)

    def read(self) -> torch.Tensor:
        return self.stored.float()


def learn(backend: Backend) -> torch.Tensor:
    return learn_block_map(backend.write, backend.read, block_size=BLOCK, kv_heads=HEADS, head_dim=DIM)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float8_e4m3fn], ids=str)
@pytest.mark.parametrize("spare", [0, 128])
def test_any_order_is_learnt_in_any_dtype(dtype: torch.dtype, spare: int) -> None:
    backend = Backend(dtype, spare=spare)
    index = learn(backend)
    key, value = (torch.randint(-4, 5, (BLOCK, HEADS, DIM)).float() for _ in range(2))
    backend.write(key, value)
    assert torch.equal(backend.read()[index], torch.stack([key, value], dim=1))


def test_a_backend_that_loses_elements_is_refused() -> None:
    with pytest.raises(LayoutUnknown, match="stored elements"):
        learn(Backend(torch.float32, lost=4))
