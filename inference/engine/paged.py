"""vLLM's paged KV cache as rows of tokens: the general path, through each backend's own writer."""

from collections.abc import Iterable
from typing import Any

import torch
from vllm.config import VllmConfig
from vllm.v1.kv_cache_interface import KVCacheConfig

from inference.engine.blockmap import LayoutUnknown, learn_block_map
from inference.engine.compat import attention_layers, block_dim, layer_cache
from inference.engine.metadata import BlockIds
from memory.layout import LayerShape

FP8 = {"fp8": torch.float8_e4m3fn, "fp8_e4m3": torch.float8_e4m3fn, "fp8_e5m2": torch.float8_e5m2}


class PagedLayer:
    """One attention layer's blocks."""

    def __init__(self, name: str, layer: Any, cache: torch.Tensor, *, group: int, dtype: torch.dtype) -> None:
        if not hasattr(layer.impl, "do_kv_cache_update"):
            raise LayoutUnknown(f"{name}: {type(layer.impl).__name__} has no writer of its own to inject through")
        self.name, self.layer, self.cache, self.group, self.dtype = name, layer, cache, group, dtype
        self.blocks = cache.movedim(block_dim(cache), 0)
        self.shape = LayerShape(int(layer.num_kv_heads), int(layer.head_size))
        self.block_size = self.blocks[0].numel() // (2 * self.shape.elements)
        self.fp8 = FP8.get(layer.kv_cache_dtype) if cache.element_size() == 1 else None
        self.block_map = torch.empty(0)

    @property
    def kind(self) -> tuple[object, ...]:
        """Layers of one kind place elements alike."""
        isa = getattr(self.layer, "isa", None)
        return (type(self.layer.impl), isa, self.blocks.shape[1:], self.blocks.stride(), self.cache.dtype)

    def learn(self) -> torch.Tensor:
        """Uses the last block and puts its content back. Call before the engine serves."""
        scratch = len(self.blocks) - 1
        before = self.blocks[scratch].clone()
        slots = scratch * self.block_size + torch.arange(self.block_size, device=self.cache.device)

        factors = self.scales.cpu() if self.fp8 else torch.ones(2)  # so that what is stored is the number itself

        def write(key: torch.Tensor, value: torch.Tensor) -> None:
            self.write(self._device(key * factors[0]), self._device(value * factors[1]), slots)

        def read() -> torch.Tensor:
            stored = self.blocks[scratch].reshape(-1)
            return (stored.view(self.fp8) if self.fp8 else stored).float()

        heads, dim = self.shape.kv_heads, self.shape.head_dim
        try:
            return learn_block_map(write, read, block_size=self.block_size, kv_heads=heads, head_dim=dim)
        finally:
            self.blocks[scratch].copy_(before)

    @property
    def scales(self) -> torch.Tensor:
        """What stored K and V of an fp8 cache are multiplied by: float32 `[2]`, on the cache's device."""
        pair = [float(self.layer._k_scale_float), float(self.layer._v_scale_float)]
        return torch.tensor(pair, device=self.cache.device)

    def write(self, key: torch.Tensor, value: torch.Tensor, slots: torch.Tensor) -> None:
        """K and V `[tokens, kv_heads, head_dim]` into flat token slots `[tokens]`."""
        self.layer.impl.do_kv_cache_update(self.layer, key, value, layer_cache(self.layer, self.cache), slots)

    def read(self, blocks: torch.Tensor, start: int, end: int) -> torch.Tensor:
        """Tokens `[start, end)` counted from the first of these blocks: `[tokens, 2, kv_heads, head_dim]`."""
        flat = self.blocks[blocks].reshape(len(blocks), -1)
        # One block after the other: a gather of all at once would materialise the index for each.
        tokens = torch.cat([block[self.block_map] for block in flat])[start:end]
        if self.fp8 is None:
            return tokens.to(self.dtype)
        return (tokens.view(self.fp8).float() * self.scales.view(2, 1, 1)).to(self.dtype)

    def _device(self, values: torch.Tensor) -> torch.Tensor:
        return values.to(self.cache.device, self.dtype)


class PagedCache:
    """All attention layers of this rank."""

    def __init__(self, vllm_config: VllmConfig, kv_config: KVCacheConfig, caches: dict[str, torch.Tensor]) -> None:
        """Raises LayoutUnknown."""
        dtype = vllm_config.model_config.dtype
        assert isinstance(dtype, torch.dtype)
        groups = {name: i for i, group in enumerate(kv_config.kv_cache_groups) for name in group.layer_names}
        self.block_sizes = [group.kv_cache_spec.block_size for group in kv_config.kv_cache_groups]
        layers = attention_layers(vllm_config, [name for name in caches if name in groups])
        self.layers = [
            PagedLayer(name, layer, caches[name], group=groups[name], dtype=dtype) for name, layer in layers.items()
        ]
        self.shapes = tuple(layer.shape for layer in self.layers)
        self.device = self.layers[0].cache.device
        maps: dict[tuple[object, ...], torch.Tensor] = {}
        for paged in self.layers:
            if paged.kind not in maps:
                maps[paged.kind] = paged.learn().to(self.device)
            paged.block_map = maps[paged.kind]

    def write(self, layers: Iterable[tuple[torch.Tensor, torch.Tensor]], start: int, block_ids: BlockIds) -> None:
        """Per layer K and V `[tokens, kv_heads, head_dim]` into a request's positions `start`, `start + 1`, ..."""
        slots: list[tuple[torch.Tensor, torch.Tensor | None]] | None = None
        for paged, (key, value) in zip(self.layers, layers, strict=True):
            if slots is None:
                slots = [
                    self._slots(ids, size, start, len(key))
                    for ids, size in zip(block_ids, self.block_sizes, strict=True)
                ]
            group_slots, held = slots[paged.group]
            if held is not None:
                key, value = key[held], value[held]
            paged.write(key, value, group_slots)

    def read(self, start: int, end: int, block_ids: BlockIds) -> list[tuple[torch.Tensor, torch.Tensor]]:
        """Per layer K and V `[tokens, kv_heads, head_dim]` of a request's positions `[start, end)`."""
        parts = []
        for paged in self.layers:
            manager_block = self.block_sizes[paged.group]
            first = start // paged.block_size
            wanted = torch.arange(first, -(-end // paged.block_size))
            per_block = manager_block // paged.block_size
            ids = torch.tensor(block_ids[paged.group])[wanted // per_block] * per_block + wanted % per_block
            offset = first * paged.block_size
            tokens = paged.read(ids.to(self.device), start - offset, end - offset)
            parts.append((tokens[:, 0], tokens[:, 1]))
        return parts

    def _slots(self, ids: list[int], size: int, start: int, count: int) -> tuple[torch.Tensor, torch.Tensor | None]:
        """Flat slots of positions, and which positions those are when some lie in blocks the group does not keep."""
        positions = torch.arange(start, start + count)
        blocks = torch.tensor(ids)[positions // size]
        slots = (blocks * size + positions % size).to(self.device)
        if bool((blocks == 0).any()):  # block 0 is vLLM's null block: outside a sliding window
            held = (blocks != 0).to(self.device)
            return slots[held], held
        return slots, None
