"""What crosses from the scheduler half to the worker halves in a step, and back."""

from collections import Counter
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from vllm.distributed.kv_transfer.kv_connector.v1.base import KVConnectorMetadata, KVConnectorWorkerMetadata

from memory.tiers.books import Entry, Rows

BlockIds = tuple[list[int], ...]
"""Block ids of a request, one list a KV cache group."""

NO_ROWS: Rows = np.empty(0, np.int32)


@dataclass(frozen=True)
class InjectPlan:
    """Write rows of the near arena into prompt positions `start`, `start + 1`, ... of a request.

    `moved`, int32 like `rows`: by how many positions each row's keys are turned.
    """

    rows: Rows
    moved: NDArray[np.int32]
    start: int
    block_ids: BlockIds

    @property
    def tokens(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class Slot:
    """Rows of an arena to fill, and the number under which that is reported."""

    order: int
    rows: Rows

    @classmethod
    def of(cls, entry: Entry | None) -> "Slot | None":
        return cls(entry.order, entry.rows) if entry is not None else None


@dataclass(frozen=True)
class LoadPlan:
    """Bring a blob up, from disk or, with `source`, from rows of the far arena where it lies turned to `start`."""

    key: str
    tokens: int
    digest: str
    near: Slot | None
    far: Slot | None
    source: Rows | None = None
    start: int = 0


@dataclass(frozen=True)
class EncodePlan:
    """Read tokens `[start, end)` of the prompt after this step's forward and keep them under `key`."""

    key: str
    digest: str
    start: int
    end: int
    block_ids: BlockIds
    near: Slot | None
    far: Slot | None

    @property
    def tokens(self) -> int:
        return self.end - self.start


@dataclass(frozen=True)
class StepPlan(KVConnectorMetadata):
    """Executed in the order of the fields: what was promised is still there, and what was freed can be filled."""

    erase_near: Rows = field(default_factory=lambda: NO_ROWS)
    erase_far: Rows = field(default_factory=lambda: NO_ROWS)
    drop: tuple[str, ...] = ()
    inject: tuple[InjectPlan, ...] = ()
    load: tuple[LoadPlan, ...] = ()
    encode: tuple[EncodePlan, ...] = ()


@dataclass
class WorkerReport(KVConnectorWorkerMetadata):
    """Orders carried out, with the position the keys are turned to, and orders that failed; `ranks` counts workers."""

    filled: dict[int, int] = field(default_factory=dict)
    lost: set[int] = field(default_factory=set)
    ranks: Counter[int] = field(default_factory=Counter)

    @property
    def is_empty(self) -> bool:
        return not self.ranks

    def add(self, slot: Slot | None, start: int | None) -> None:
        """`start` None: it failed."""
        if slot is None:
            return
        self.ranks[slot.order] += 1
        if start is None:
            self.lost.add(slot.order)
        else:
            self.filled[slot.order] = start

    def aggregate(self, other: KVConnectorWorkerMetadata) -> "WorkerReport":
        if not isinstance(other, WorkerReport):
            raise TypeError(f"cannot add {type(other).__name__} to a WorkerReport")
        return WorkerReport({**self.filled, **other.filled}, self.lost | other.lost, self.ranks + other.ranks)
