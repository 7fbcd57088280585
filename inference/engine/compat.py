"""Every difference between vLLM releases that the connector meets, 0.26 to 0.33."""

from collections.abc import Iterable
from typing import Any

import torch
from vllm.config import VllmConfig
from vllm.model_executor.models.utils import extract_layer_index
from vllm.v1.kv_cache_interface import KVCacheConfig

try:
    from vllm.exceptions import VLLMClientError
except ImportError:  # early releases raise ValueError alone
    REFUSALS: tuple[type[Exception], ...] = (ValueError,)
else:
    REFUSALS = (ValueError, VLLMClientError)


def layer_order(names: Iterable[str]) -> list[str]:
    """Layer names in model order."""
    return sorted(names, key=extract_layer_index)


def attention_specs(kv_config: KVCacheConfig) -> dict[str, Any]:
    """What each layer that keeps KV of its own stores, by the layer's name."""
    specs: dict[str, Any] = {}
    for group in kv_config.kv_cache_groups:
        spec: Any = group.kv_cache_spec
        for name in group.layer_names:
            specs[name] = getattr(spec, "kv_cache_specs", {}).get(name, spec)
    return {name: spec for name, spec in specs.items() if hasattr(spec, "num_kv_heads")}


def has_uniform_groups(kv_config: KVCacheConfig) -> bool:
    """Whether a group holds layers of several specs, of which vLLM tells its scheduler the first alone."""
    return any(hasattr(group.kv_cache_spec, "kv_cache_specs") for group in kv_config.kv_cache_groups)


def attention_layers(vllm_config: VllmConfig, names: list[str]) -> dict[str, Any]:
    """Attention modules by name, in model order, without those that share another layer's KV."""
    modules = vllm_config.compilation_config.static_forward_context
    own = [name for name in names if not getattr(modules[name], "kv_sharing_target_layer_name", None)]
    return {name: modules[name] for name in layer_order(own)}


def layer_cache(layer: Any, registered: torch.Tensor) -> torch.Tensor:
    """The tensor a layer's backend writes to: early releases keep it in a list by pipeline stage."""
    cache = getattr(layer, "kv_cache", registered)
    return cache[0] if isinstance(cache, list) else cache


def block_dim(cache: torch.Tensor) -> int:
    """Dimension that counts blocks: early backends put K and V before it."""
    return 1 if cache.dim() == 5 and cache.shape[0] == 2 else 0
