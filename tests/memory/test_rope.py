"""Theorem 6: a key turned from p to q is the key the model computes at q, for every position-linear variant."""

import math
from typing import Any

import pytest
import torch

from memory.rope import Rotation

HEAD = 64
Variant = tuple[torch.nn.Module, Rotation, torch.Tensor]


def plain(base: float, dim: int) -> torch.Tensor:
    return base ** (-torch.arange(0, dim, 2, dtype=torch.float64) / dim)


def llama3(base: float, dim: int, *, factor: float, low: float, high: float, original: int) -> torch.Tensor:
    scaled = []
    for frequency in plain(base, dim).tolist():
        wavelength = 2 * math.pi / frequency
        if wavelength < original / high:
            scaled.append(frequency)
        elif wavelength > original / low:
            scaled.append(frequency / factor)
        else:
            smooth = (original / wavelength - low) / (high - low)
            scaled.append((1 - smooth) * frequency / factor + smooth * frequency)
    return torch.tensor(scaled, dtype=torch.float64)


def yarn(base: float, dim: int, *, factor: float, original: int, fast: float = 32, slow: float = 1) -> torch.Tensor:
    def index_of(turns: float) -> float:
        return dim * math.log(original / (turns * 2 * math.pi)) / (2 * math.log(base))

    low, high = max(math.floor(index_of(fast)), 0), min(math.ceil(index_of(slow)), dim - 1)
    ramp = ((torch.arange(dim // 2, dtype=torch.float64) - low) / (high - low)).clamp(0, 1)
    frequencies = plain(base, dim)
    return frequencies / factor * ramp + frequencies * (1 - ramp)


def embed(keys: torch.Tensor, positions: torch.Tensor, frequencies: torch.Tensor, *, is_neox: bool) -> torch.Tensor:
    """The rotary embedding in float64, one pair of elements at a time."""
    turned = keys.double().clone()
    half = len(frequencies)
    for i, frequency in enumerate(frequencies):
        a, b = (i, i + half) if is_neox else (2 * i, 2 * i + 1)
        angle = positions.double() * frequency
        x, y = keys[:, a].double(), keys[:, b].double()
        turned[:, a] = x * angle.cos() - y * angle.sin()
        turned[:, b] = y * angle.cos() + x * angle.sin()
    return turned


ROPES: dict[str, tuple[dict[str, Any], bool, torch.Tensor]] = {
    "plain": ({"rope_type": "default", "rope_theta": 10000.0}, True, plain(10000.0, HEAD)),
    "llama-3.1": (
        {
            "rope_type": "llama3",
            "rope_theta": 500000.0,
            "factor": 8.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192,
        },
        True,
        llama3(500000.0, HEAD, factor=8.0, low=1.0, high=4.0, original=8192),
    ),
    "yarn": (
        {"rope_type": "yarn", "rope_theta": 1e6, "factor": 4.0, "original_max_position_embeddings": 32768},
        True,
        yarn(1e6, HEAD, factor=4.0, original=32768),
    ),
    "linear": ({"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}, True, plain(10000.0, HEAD) / 4),
    "partial": (
        {"rope_type": "default", "rope_theta": 10000.0, "partial_rotary_factor": 0.5},
        True,
        plain(10000.0, HEAD // 2),
    ),
    "interleaved": ({"rope_type": "default", "rope_theta": 10000.0}, False, plain(10000.0, HEAD)),
}


@pytest.fixture(params=ROPES, scope="module")
def variant(request: pytest.FixtureRequest) -> Variant:
    from vllm.config import VllmConfig, set_current_vllm_config
    from vllm.model_executor.layers.rotary_embedding import get_rope

    from inference.engine.rotary import rotation_of

    parameters, is_neox, frequencies = ROPES[request.param]
    with set_current_vllm_config(VllmConfig()):
        rotary = get_rope(HEAD, 131072, is_neox, parameters, dtype=torch.float32)
    return rotary, rotation_of(rotary), frequencies


def test_frequencies_are_the_variants_own(variant: Variant) -> None:
    _, rotation, frequencies = variant
    torch.testing.assert_close(rotation.inv_freq.double(), frequencies, rtol=1e-5, atol=0)


def test_turned_keys_equal_a_float64_reference(variant: Variant) -> None:
    _, rotation, _ = variant
    generator = torch.Generator().manual_seed(1)
    raw = torch.randn(64, HEAD, generator=generator, dtype=torch.float64)
    here = torch.randint(0, 8192, (64,), generator=generator)
    there = torch.randint(0, 8192, (64,), generator=generator)
    exact = rotation.inv_freq.double()  # the model's frequencies are these float32 numbers
    keys = embed(raw, here, exact, is_neox=rotation.is_neox).float()
    rotation.turn_(keys, *rotation.unit_tables(there - here))
    expected = embed(raw, there, exact, is_neox=rotation.is_neox)
    torch.testing.assert_close(keys.double(), expected, rtol=0, atol=2e-6)


def test_bfloat16_keys_are_rounded_once(variant: Variant) -> None:
    _, rotation, _ = variant
    keys = torch.randn(32, 2, 3, HEAD, generator=torch.Generator().manual_seed(2)).bfloat16()
    wide = keys.float()
    delta = torch.arange(-16, 16) * 97
    rotation.turn_(keys, *rotation.unit_tables(delta))
    rotation.turn_(wide, *rotation.unit_tables(delta))
    assert torch.equal(keys, wide.bfloat16())


def test_turned_keys_equal_the_served_models_own(variant: Variant) -> None:
    from inference.engine.rotary import check_rotation

    rotary, rotation, _ = variant
    check_rotation(rotation, rotary)


def test_a_wrong_rotation_is_noticed(variant: Variant) -> None:
    from inference.engine.rotary import RotaryUnsupported, check_rotation

    rotary, rotation, _ = variant
    with pytest.raises(RotaryUnsupported, match="misses the model's own"):
        check_rotation(Rotation(rotation.inv_freq * 1.01, rotation.is_neox), rotary)


@pytest.mark.parametrize(
    "parameters",
    [
        {"rope_type": "dynamic", "rope_theta": 10000.0, "factor": 2.0},
        {"rope_type": "default", "rope_theta": 10000.0, "mrope_section": [8, 12, 12]},
    ],
    ids=["dynamic NTK", "M-RoPE"],
)
def test_embeddings_that_are_no_fixed_rotation_are_refused(parameters: dict[str, Any]) -> None:
    from vllm.config import VllmConfig, set_current_vllm_config
    from vllm.model_executor.layers.rotary_embedding import get_rope

    from inference.engine.rotary import RotaryUnsupported, rotation_of

    with set_current_vllm_config(VllmConfig()):
        rotary = get_rope(HEAD, 4096, True, parameters, dtype=torch.float32)
    with pytest.raises(RotaryUnsupported, match="not a fixed rotation"):
        rotation_of(rotary)
