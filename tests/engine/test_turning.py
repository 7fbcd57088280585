"""The kernel that turns keys on the CPU gives what the library's own rotation gives."""

import pytest
import torch

from inference.engine.turning import turn_by
from memory.rope import Rotation

CPU = torch.device("cpu")


@pytest.mark.parametrize("is_neox", [True, False], ids=["neox", "interleaved"])
@pytest.mark.parametrize("rotary_dim", [64, 32], ids=["whole", "partial"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32], ids=str)
def test_turned_keys_are_the_same_to_a_rounding(is_neox: bool, rotary_dim: int, dtype: torch.dtype) -> None:
    rotation = Rotation(10000.0 ** (-torch.arange(0, rotary_dim, 2) / rotary_dim), is_neox)
    rows = torch.randn(37, 5 * 64, generator=torch.Generator().manual_seed(0)).to(dtype)
    keys = rows[:, 64:256].view(37, 3, 64)  # a view into rows, as a layer's keys are
    before, delta = keys.clone(), torch.arange(37) * 31 - 400
    expected = keys.clone()
    rotation.turn_(expected, *rotation.unit_tables(delta))
    turned = turn_by(rotation, delta, CPU)(keys)
    assert torch.equal(keys, before)
    assert turned.is_contiguous()
    torch.testing.assert_close(turned, expected, rtol=torch.finfo(dtype).eps, atol=1e-6)


def test_keys_that_stay_are_not_touched() -> None:
    rotation = Rotation(torch.ones(2), True)
    keys = torch.randn(3, 1, 4).bfloat16()
    assert torch.equal(turn_by(rotation, torch.zeros(3, dtype=torch.int64), CPU)(keys), keys)
