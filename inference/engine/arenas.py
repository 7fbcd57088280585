"""How the configured bytes become rows, computed alike in the scheduler half and in every worker half."""

from dataclasses import dataclass

import torch
from vllm.config import VllmConfig
from vllm.platforms import current_platform
from vllm.v1.kv_cache_interface import KVCacheConfig

from inference.engine.compat import attention_specs, layer_order
from inference.engine.config import ConnectorConfig
from memory.layout import DTYPES, KVLayout, LayerShape


@dataclass(frozen=True)
class ArenaPlan:
    """Rows of each arena. Without a GPU the near arena is host memory, and there is no far one: `far_rows` is 0."""

    layout: KVLayout
    near_rows: int
    far_rows: int

    @classmethod
    def read(cls, config: ConnectorConfig, vllm_config: VllmConfig, kv_config: KVCacheConfig) -> "ArenaPlan":
        layout = planned_layout(config, vllm_config, kv_config)
        near, far = config.gpu_bytes, config.host_bytes
        if current_platform.is_cpu():
            near, far = config.host_bytes, 0
        return cls(layout, near // layout.row_bytes, far // layout.row_bytes)


def planned_layout(config: ConnectorConfig, vllm_config: VllmConfig, kv_config: KVCacheConfig) -> KVLayout:
    """Raises ValueError when the model keeps no attention KV."""
    specs = attention_specs(kv_config)
    dtype = vllm_config.model_config.dtype
    assert isinstance(dtype, torch.dtype)
    names = {value: name for name, value in DTYPES.items()}
    shapes = tuple(LayerShape(specs[name].num_kv_heads, specs[name].head_size) for name in layer_order(specs))
    return KVLayout(shapes, names[dtype], config.row_dtype)
