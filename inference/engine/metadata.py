"""What crosses from the scheduler half to the worker halves in a step, and back."""

from collections import Counter
from dataclasses import dataclass, field

from vllm.distributed.kv_transfer.kv_connector.v1.base import KVConnectorMetadata, KVConnectorWorkerMetadata

from memory.tiers.index import Resident

BlockIds = tuple[list[int], ...]
"""Block ids of a request, one list a KV cache group."""


@dataclass(frozen=True)
class InjectPlan:
    """Write tokens `[start, end)` of the prompt, whose segments from position 0 on are `keys`."""

    keys: tuple[str, ...]
    start: int
    end: int
    block_ids: BlockIds


@dataclass(frozen=True)
class EncodePlan:
    """Read tokens `[start, end)` of the prompt after this step's forward and keep them under `key`."""

    key: str
    digest: str
    start: int
    end: int
    block_ids: BlockIds


@dataclass(frozen=True)
class StepPlan(KVConnectorMetadata):
    """Executed in the order of the fields, so that what was promised is there and what was dropped can come back."""

    ticket: int = 0
    inject: tuple[InjectPlan, ...] = ()
    drop: tuple[str, ...] = ()
    stage: tuple[str, ...] = ()
    encode: tuple[EncodePlan, ...] = ()


Order = tuple[str, int]
"""A blob's key and the ticket of the plan that ordered it."""


@dataclass
class WorkerReport(KVConnectorWorkerMetadata):
    """Orders whose blobs became resident, or could not be loaded; `ranks` counts the workers that hold each."""

    residents: dict[Order, Resident] = field(default_factory=dict)
    ranks: Counter[Order] = field(default_factory=Counter)
    lost: set[Order] = field(default_factory=set)

    def add(self, order: Order, resident: Resident) -> None:
        self.residents[order] = resident
        self.ranks[order] += 1

    def aggregate(self, other: KVConnectorWorkerMetadata) -> "WorkerReport":
        if not isinstance(other, WorkerReport):
            raise TypeError(f"cannot add {type(other).__name__} to a WorkerReport")
        return WorkerReport({**self.residents, **other.residents}, self.ranks + other.ranks, self.lost | other.lost)
