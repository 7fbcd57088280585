"""Between the near arena and the paged cache on a GPU: one kernel launch for all layers and requests of a step."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from vllm.triton_utils import triton

from inference.engine import kernels
from inference.engine.metadata import BlockIds, EncodePlan, InjectPlan
from inference.engine.paged import PagedCache, PagedLayer
from memory.rope import Rotation
from memory.tiers.arena import Arena

LAYERS_EACH = 8
INJECT_WARPS = 2
COPY_PROGRAMS = 48
COPY_CHUNK = 2048
UPLOADS = 16
LEAST_UPLOAD = 1 << 16
ALIGNED = 16 // 4
VALUES = {torch.float32: 0, torch.bfloat16: 1, torch.float16: 2}

Ints = NDArray[np.int32]


class NotAffine(ValueError):
    """The backend packs K or V in an order that is no fixed distance between neighbours."""


@dataclass(frozen=True)
class Strides:
    """Elements between neighbours in a layer's cache; a head's elements lie side by side."""

    base: int
    block: int
    token: int
    head: int
    value: int

    @classmethod
    def of(cls, paged: PagedLayer) -> "Strides":
        """From the learnt block map. Raises NotAffine."""
        strides = torch.tensor(paged.blocks.stride()[1:])
        index = paged.block_map.cpu()
        places = torch.zeros_like(index)
        for size, stride in zip(reversed(paged.blocks.shape[1:]), reversed(strides.tolist()), strict=True):
            places += index % size * stride
            index = index // size
        tokens, _, heads, dim = places.shape
        first = int(places[0, 0, 0, 0])
        token = int(places[1, 0, 0, 0]) - first if tokens > 1 else 0
        value = int(places[0, 1, 0, 0]) - first
        head = int(places[0, 0, 1, 0]) - first if heads > 1 else 0
        expected = first + (
            torch.arange(tokens).view(-1, 1, 1, 1) * token
            + torch.arange(2).view(1, -1, 1, 1) * value
            + torch.arange(heads).view(1, 1, -1, 1) * head
            + torch.arange(dim)
        )
        if not torch.equal(places, expected):
            raise NotAffine(f"{paged.name}: elements of K and V do not lie at fixed distances")
        return cls(first, int(paged.blocks.stride(0)), token, head, value)


@dataclass(frozen=True)
class LayerSet:
    """Layers alike in shape, strides and block table: one launch moves them all."""

    group: int
    table_block: int
    block: int
    heads: int
    dim: int
    strides: Strides
    fp8: int
    cache: torch.Tensor
    places: torch.Tensor
    scales: torch.Tensor

    @property
    def count(self) -> int:
        return int(self.places.shape[0])


class FusedMover:
    def __init__(self, cache: PagedCache, arena: Arena, rotation: Rotation) -> None:
        """Raises NotAffine: the general mover serves such caches."""
        self.cache, self.arena, self.rotation = cache, arena, rotation
        self.device = cache.device
        self.frequencies = rotation.inv_freq.to(self.device, torch.float64)
        self.sets = _layer_sets(cache, arena)
        self._uploads = [_Upload(self.device) for _ in range(UPLOADS)]
        self._constants = [self._shape(layers) for layers in self.sets]
        self._next = 0

    def warm(self) -> None:
        """Compile: during serving it would hold up a request. Reads and writes nothing that counts: block 0 is null."""
        rows = np.zeros(1, np.int32)
        block_ids = tuple([0] for _ in self.cache.block_sizes)
        for moved in (0, 1):
            self.inject([InjectPlan(rows, np.full(1, moved, np.int32), 0, block_ids)])
        self.read([EncodePlan("", "", 0, 1, block_ids, None, None)])
        torch.cuda.synchronize(self.device)

    def inject(self, plans: Sequence[InjectPlan]) -> None:
        if not plans:
            return
        count = sum(plan.tokens for plan in plans)
        columns = np.empty((4, count), np.int32)
        columns[0] = np.concatenate([plan.rows for plan in plans])
        columns[1] = np.concatenate([plan.moved for plan in plans])
        columns[2] = np.concatenate([np.arange(p.start, p.start + p.tokens, dtype=np.int32) for p in plans])
        for layers, constants in zip(self.sets, self._constants, strict=True):
            tables, columns[3] = _tables([plan.block_ids for plan in plans], [p.tokens for p in plans], layers.group)
            tokens_on, tables_on = self._upload(columns, tables)
            kernels.inject_kernel[(count, triton.cdiv(layers.count, LAYERS_EACH))](
                tokens_on,
                count,
                tables_on,
                self.arena.rows,
                layers.places,
                layers.scales,
                self.frequencies,
                layers.cache,
                self.arena.rows.stride(0),
                layers.strides.block,
                layers.strides.token,
                layers.strides.head,
                layers.strides.value,
                layers.count,
                HALF=self.rotation.rotary_dim // 2,
                NEOX=self.rotation.is_neox,
                num_warps=INJECT_WARPS,
                **constants,
            )

    def read(self, plans: Sequence[EncodePlan]) -> torch.Tensor:
        counts = [plan.tokens for plan in plans]
        layout = self.arena.layout
        rows = torch.zeros(sum(counts), layout.row_width, dtype=layout.stored_dtype, device=self.device)
        columns = np.empty((2, len(rows)), np.int32)
        columns[0] = np.concatenate([np.arange(plan.start, plan.end, dtype=np.int32) for plan in plans])
        for layers, constants in zip(self.sets, self._constants, strict=True):
            tables, columns[1] = _tables([plan.block_ids for plan in plans], counts, layers.group)
            tokens_on, tables_on = self._upload(columns, tables)
            kernels.read_kernel[(len(rows), triton.cdiv(layers.count, LAYERS_EACH))](
                tokens_on,
                len(rows),
                tables_on,
                rows,
                layers.places,
                layers.scales,
                layers.cache,
                rows.stride(0),
                layers.strides.block,
                layers.strides.token,
                layers.strides.head,
                layers.strides.value,
                layers.count,
                **constants,
            )
        return rows

    def _shape(self, layers: LayerSet) -> dict[str, int | bool]:
        return {
            "TABLE_BLOCK": layers.table_block,
            "BLOCK": layers.block,
            "HEADS": layers.heads,
            "HEADS_PADDED": triton.next_power_of_2(layers.heads),
            "DIM": layers.dim,
            "DIM_PADDED": triton.next_power_of_2(layers.dim),
            "VALUES": VALUES[self.arena.layout.value_dtype],
            "ROW_FP8": self.arena.layout.row_dtype == "fp8",
            "CACHE_FP8": layers.fp8,
            "LAYERS_EACH": LAYERS_EACH,
        }

    def _upload(self, columns: Ints, tables: Ints) -> tuple[torch.Tensor, torch.Tensor]:
        """One copy to the GPU for both."""
        self._next = (self._next + 1) % UPLOADS
        return self._uploads[self._next].send(columns, tables)


class RowCopier:
    """Rows of pinned host memory into the near arena, read by the GPU itself over PCIe."""

    def __init__(self, near: Arena) -> None:
        self.near = near

    def warm(self, far: Arena) -> None:
        self.copy(far.rows, np.zeros(1, np.int32), np.zeros(1, np.int32))

    def copy(self, source: torch.Tensor, source_rows: Ints, near_rows: Ints) -> None:
        """`source` is pinned. On the current stream."""
        numbers = np.stack([source_rows, near_rows])
        on_device = torch.from_numpy(numbers).pin_memory().to(self.near.rows.device, non_blocking=True)
        words = source.view(torch.int32)
        width = words.shape[1]
        chunks = triton.cdiv(width, COPY_CHUNK)
        items = chunks * len(near_rows)
        kernels.copy_rows_kernel[(min(COPY_PROGRAMS, items),)](
            words,
            self.near.rows.view(torch.int32),
            on_device[0],
            on_device[1],
            items,
            width,
            CHUNKS=chunks,
            CHUNK=COPY_CHUNK,
            num_warps=8,
        )


class _Upload:
    """A pinned buffer, its copy on the GPU, and the event after which the first may be written again."""

    def __init__(self, device: torch.device) -> None:
        self.device, self.sent = device, torch.cuda.Event()
        self._make(LEAST_UPLOAD)

    def send(self, columns: Ints, tables: Ints) -> tuple[torch.Tensor, torch.Tensor]:
        first = -(-columns.size // ALIGNED) * ALIGNED  # Triton compiles anew for a pointer of another alignment
        size = first + tables.size
        self.sent.synchronize()
        if len(self.host) < size:
            self._make(2 * size)
        self.host[: columns.size] = columns.ravel()
        self.host[first:size] = tables
        self.on_device[:size].copy_(self.pinned[:size], non_blocking=True)
        self.sent.record()
        return self.on_device, self.on_device[first:]

    def _make(self, size: int) -> None:
        self.pinned = torch.empty(size, dtype=torch.int32, pin_memory=True)
        self.on_device = torch.empty(size, dtype=torch.int32, device=self.device)
        self.host = self.pinned.numpy()


def _tables(block_ids: Sequence[BlockIds], counts: Sequence[int], group: int) -> tuple[Ints, Ints]:
    """Block tables of one group one after the other, and for each token where its request's begins."""
    tables = [np.asarray(ids[group], dtype=np.int32) for ids in block_ids]
    sizes = np.fromiter(map(len, tables), np.int64, len(tables))
    return np.concatenate(tables), np.repeat(np.cumsum(sizes) - sizes, counts).astype(np.int32)


def _layer_sets(cache: PagedCache, arena: Arena) -> list[LayerSet]:
    alike: dict[tuple[object, ...], list[int]] = {}
    strides = [Strides.of(paged) for paged in cache.layers]
    for number, (paged, stride) in enumerate(zip(cache.layers, strides, strict=True)):
        key = (paged.group, paged.shape, stride, paged.block_size, paged.fp8, paged.cache.dtype)
        alike.setdefault(key, []).append(number)
    return [_layer_set(cache, arena, numbers, strides[numbers[0]]) for numbers in alike.values()]


def _layer_set(cache: PagedCache, arena: Arena, numbers: list[int], strides: Strides) -> LayerSet:
    places, scales = [], []
    for number in numbers:
        paged, columns = cache.layers[number], arena.layout.columns(number)
        address = paged.blocks.data_ptr() + strides.base * paged.cache.element_size()
        places.append([address, columns[0].start, columns[-1].start])
        scales.append(paged.scales if paged.fp8 else torch.ones(2, device=cache.device))
    first = cache.layers[numbers[0]]
    return LayerSet(
        group=first.group,
        table_block=cache.block_sizes[first.group],
        block=first.block_size,
        heads=first.shape.kv_heads,
        dim=first.shape.head_dim,
        strides=strides,
        fp8={None: 0, torch.float8_e4m3fn: 4, torch.float8_e5m2: 5}[first.fp8],
        cache=first.cache.view(torch.uint8) if first.fp8 else first.cache,
        places=torch.tensor(places, dtype=torch.int64, device=cache.device),
        scales=torch.stack(scales),
    )
