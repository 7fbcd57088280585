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
        """Raises ValueError when an arena would hold no row, or the model keeps no attention KV."""
        layout = planned_layout(config, vllm_config, kv_config)
        near, far = config.gpu_bytes, config.host_bytes
        if current_platform.is_cpu():
            near, far = config.host_bytes, 0
        plan = cls(layout, near // layout.row_bytes, far // layout.row_bytes)
        if not plan.near_rows or (far and not plan.far_rows):
            raise ValueError(f"gpu_bytes and host_bytes must hold at least one token's KV of {layout.row_bytes} bytes")
        return plan


@dataclass(frozen=True)
class BlockGroup:
    """Layers that share a block table: tokens of a block, and how far back the group keeps any (None: to the start)."""

    block_size: int
    window: int | None

    def still_holds(self, start: int, end: int, block_ids: list[int], computed: int) -> bool:
        """Whether tokens `[start, end)` lie in blocks of this request in the step that follows `computed` tokens.

        Blocks that a window has left are block 0, or already another request's.
        """
        if self.window is not None and start < computed - self.window + 1:
            return False
        return 0 not in block_ids[start // self.block_size : -(-end // self.block_size)]


def block_groups(kv_config: KVCacheConfig) -> list[BlockGroup]:
    specs = [group.kv_cache_spec for group in kv_config.kv_cache_groups]
    return [BlockGroup(spec.block_size, getattr(spec, "sliding_window", None)) for spec in specs]


def refuse_unsupported(vllm_config: VllmConfig, *, ranks: int | None = None) -> None:
    """`ranks`: those that blobs are named for. Raises ValueError: settings of vLLM under which rows would hold, or land
    among, the wrong tokens, or blobs would be of no use.
    """
    parallel, cache = vllm_config.parallel_config, vllm_config.cache_config
    if ranks is not None and parallel.tensor_parallel_size != ranks:
        raise ValueError(
            f"--tensor-parallel-size is {parallel.tensor_parallel_size} here and {ranks} where facts are encoded: "
            "set INFERSCALE_TENSOR_PARALLEL_SIZE for all processes instead"
        )
    if parallel.pipeline_parallel_size > 1:
        raise ValueError("injection does not work with pipeline parallelism yet; use tensor parallelism")
    if parallel.data_parallel_size > 1:
        raise ValueError("orders reach one data-parallel rank only; start several engines (INFERSCALE_ENGINE_URLS)")
    if (
        getattr(parallel, "decode_context_parallel_size", 1) > 1
        or getattr(parallel, "prefill_context_parallel_size", 1) > 1
    ):
        raise ValueError("injection does not work with context parallelism yet")
    if getattr(cache, "calculate_kv_scales", False):
        raise ValueError("injection needs fixed KV scales; leave out --calculate-kv-scales")


def planned_layout(config: ConnectorConfig, vllm_config: VllmConfig, kv_config: KVCacheConfig) -> KVLayout:
    """Raises ValueError when the model keeps no attention KV."""
    specs = attention_specs(kv_config)
    dtype = vllm_config.model_config.dtype
    assert isinstance(dtype, torch.dtype)
    names = {value: name for name, value in DTYPES.items()}
    shapes = tuple(LayerShape(specs[name].num_kv_heads, specs[name].head_size) for name in layer_order(specs))
    return KVLayout(shapes, names[dtype], config.row_dtype)
