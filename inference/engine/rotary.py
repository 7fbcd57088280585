"""The served model's rotary embedding as a Rotation, or a refusal that says why."""

from typing import Any

import torch
from vllm.model_executor.layers.rotary_embedding import _ROPE_DICT

from memory.rope import Rotation

FREQUENCIES_FROM_BASE = ("RotaryEmbedding", "Llama3RotaryEmbedding", "NTKScalingRotaryEmbedding")
TOLERANCE = 0.03
CHECKED_POSITIONS = 8192  # beyond, the reference itself drifts: its angles are float32 products


class RotaryUnsupported(ValueError):
    """The model's keys cannot be turned from one position to another by a fixed rotation."""


def model_rotation(hf_config: Any) -> Rotation:
    """Rotation shared by all attention layers of the model loaded in this process.

    Raises RotaryUnsupported when there is none, several, or one that is not position-linear.
    """
    if getattr(hf_config, "no_rope_layers", None) and 0 in hf_config.no_rope_layers:
        raise RotaryUnsupported("some layers of this model have no rotary embedding; injection does not cover that yet")
    found = list({id(rotary): rotary for rotary in _ROPE_DICT.values()}.values())
    if not found:
        raise RotaryUnsupported("this model has no rotary embedding, so its keys cannot be moved")
    rotations = [rotation_of(rotary) for rotary in found]
    first = rotations[0]
    for other in rotations[1:]:
        same_shape = first.is_neox == other.is_neox and first.rotary_dim == other.rotary_dim
        if not same_shape or not torch.equal(first.inv_freq, other.inv_freq):
            raise RotaryUnsupported("layers of this model differ in their rotary embedding; not covered yet")
    check_rotation(first, found[0])
    return first


def rotation_of(rotary: Any) -> Rotation:
    """Frequencies of one of vLLM's rotary embeddings, recomputed in float32 from its own parameters.

    Its cos/sin table is no source: it is rounded to the model's dtype and, in YaRN, carries a magnitude.
    """
    name = type(rotary).__name__
    with torch.device("cpu"):
        if name in FREQUENCIES_FROM_BASE:
            inv_freq = rotary._compute_inv_freq(rotary.base)
        elif name == "YaRNScalingRotaryEmbedding":
            inv_freq = rotary._compute_inv_freq(rotary.scaling_factor)
        elif name == "LinearScalingRotaryEmbedding" and len(rotary.scaling_factors) == 1:
            inv_freq = rotary._compute_inv_freq(rotary.base) / rotary.scaling_factors[0]
        else:
            raise RotaryUnsupported(f"{name} is not a fixed rotation by position; injection supports {_supported()}")
    return Rotation(inv_freq.to(torch.float32), bool(rotary.is_neox_style))


def check_rotation(rotation: Rotation, rotary: Any) -> None:
    """Compare with the model's own embedding: a key at p turned by q - p must be the key at q."""
    limit = min(int(rotary.cos_sin_cache.shape[0]), CHECKED_POSITIONS)
    positions = torch.tensor([0, 1, limit // 3, limit - 1])
    moved = positions.flip(0)
    generator = torch.Generator().manual_seed(0)
    raw = torch.randn(positions.numel(), rotary.head_size, generator=generator)
    keys, expected = _embed(rotary, positions, raw), _embed(rotary, moved, raw)
    rotation.turn_(keys, *rotation.unit_tables(moved - positions))
    error = float((keys - expected).abs().max() / expected.abs().max())
    if error > TOLERANCE:
        raise RotaryUnsupported(f"turning keys of {type(rotary).__name__} misses the model's own by {error:.1%}")


def _embed(rotary: Any, positions: torch.Tensor, keys: torch.Tensor) -> torch.Tensor:
    device, dtype = rotary.cos_sin_cache.device, rotary.cos_sin_cache.dtype
    embedded = keys.to(device, dtype).clone()
    _, turned = rotary.forward_native(positions.to(device), embedded.clone(), embedded)
    as_float: torch.Tensor = turned.float().cpu()
    return as_float


def _supported() -> str:
    return "plain, linear, fixed NTK, Llama 3 and YaRN scaling, partial and interleaved"
