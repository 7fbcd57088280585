"""Brings blobs up to the arenas and down to disk, beside the model's work. Worker half."""

import logging
import os
from collections.abc import Collection, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate

import numpy as np
import torch

from inference.engine.fused import RowCopier
from inference.engine.metadata import EncodePlan, LoadPlan, WorkerReport
from inference.engine.mover import row_numbers
from memory.blob import Blob
from memory.store import BlobStore, Shard
from memory.tiers.arena import Arena
from memory.tiers.books import Rows

logger = logging.getLogger(__name__)

THREADS = min(16, os.cpu_count() or 1)
HOST = torch.device("cpu")


@dataclass(frozen=True)
class Lift:
    """A blob in pinned host memory, to be copied into the near arena."""

    plan: LoadPlan
    source: torch.Tensor
    rows: Rows
    start: int


class Loader:
    """`far` None: the near arena is host memory itself and is filled by the reading threads."""

    def __init__(self, store: BlobStore, shard: Shard, near: Arena, far: Arena | None, fingerprint: str) -> None:
        self.store, self.shard, self.near, self.far, self.fingerprint = store, shard, near, far, fingerprint
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="blob")
        self._reading: list[tuple[LoadPlan, Future[tuple[torch.Tensor, Rows, int] | None]]] = []
        self._saving: list[tuple[EncodePlan, Future[bool]]] = []
        self._lifting: list[tuple[list[Lift], torch.cuda.Event]] = []
        self._copier = RowCopier(near) if far else None
        self._stream = torch.cuda.Stream(near.rows.device) if far else None
        if self._copier and far:
            self._copier.warm(far)

    def load(self, plans: Sequence[LoadPlan]) -> None:
        lifts = []
        for plan in plans:
            if plan.source is not None and self.far is not None:
                lifts.append(Lift(plan, self.far.rows, plan.source, plan.start))
            else:
                saving = [future for encode, future in self._saving if encode.key == plan.key]
                self._reading.append((plan, self._pool.submit(self._read, plan, saving)))
        self._lift(lifts)

    def save(self, plans: Sequence[EncodePlan], rows: torch.Tensor, report: WorkerReport) -> None:
        """Keep encoded rows, one plan's after the other's, on the cache's device: in both arenas and on disk."""
        sizes = [plan.tokens for plan in plans]
        pieces = rows.split(sizes)
        near = [(plan, piece) for plan, piece in zip(plans, pieces, strict=True) if plan.near]
        if near:
            numbers = np.concatenate([plan.near.rows for plan, _ in near if plan.near])
            self.near.write(row_numbers(numbers, self.near.rows.device), torch.cat([piece for _, piece in near]))
            for plan, _ in near:
                report.add(plan.near, plan.start)
        copied = _to_host(rows)
        for plan, at in zip(plans, accumulate(sizes[:-1], initial=0), strict=True):
            self._saving.append((plan, self._pool.submit(self._save, plan, copied, at)))

    def drop_copies(self, keys: Collection[str]) -> None:
        """Of blobs that were deleted, before the engine says that it has forgotten them."""
        try:
            self.store.drop_copies(keys, self.shard)
        except OSError:
            logger.exception("copies of deleted blobs are left to the next sweep")

    def collect(self, report: WorkerReport) -> None:
        """What was done since the last call."""
        saving = []
        for plan, saved in self._saving:
            if saved.done():
                report.add(plan.far, plan.start if saved.result() else None)
            else:
                saving.append((plan, saved))
        self._saving = saving
        lifts, still = [], []
        for load, read in self._reading:
            if not read.done():
                still.append((load, read))
                continue
            found = read.result()
            if found and self.far is not None and load.near:
                lifts.append(Lift(load, *found))  # far rows are reported with the near ones: until then they are read
            else:
                report.add(load.far, found[2] if found else None)
                report.add(load.near, found[2] if found else None)
        self._reading = still
        self._lift(lifts)
        while self._lifting and self._lifting[0][1].query():
            for lift in self._lifting.pop(0)[0]:
                report.add(lift.plan.near, lift.start)
                report.add(lift.plan.far, lift.start)

    def close(self) -> None:
        self._pool.shutdown(wait=True)

    def _lift(self, lifts: list[Lift]) -> None:
        """One copy a source, on a stream of its own, after all that was launched before may have read those rows."""
        if not lifts or self._copier is None or self._stream is None:
            return
        self._stream.wait_stream(torch.cuda.current_stream(self.near.rows.device))
        by_source: dict[int, list[Lift]] = {}
        for lift in lifts:
            by_source.setdefault(lift.source.data_ptr(), []).append(lift)
        with torch.cuda.stream(self._stream):
            for group in by_source.values():
                near = np.concatenate([lift.plan.near.rows for lift in group if lift.plan.near])
                self._copier.copy(group[0].source, np.concatenate([lift.rows for lift in group]), near)
            done = torch.cuda.Event()
            done.record(self._stream)
        self._lifting.append((lifts, done))

    def _read(self, plan: LoadPlan, saving: list[Future[bool]]) -> tuple[torch.Tensor, Rows, int] | None:
        """Where in host memory the blob now lies and its position; None when it cannot be had, whatever the reason."""
        try:
            for save in saving:
                save.result()
            blob = self._from_disk(plan)
            return self._place(plan, blob) if blob else None
        except Exception:
            logger.exception("blob %s cannot be read", plan.key)
            return None

    def _place(self, plan: LoadPlan, blob: Blob) -> tuple[torch.Tensor, Rows, int]:
        if self.far is None:
            if plan.near:
                self.near.write(row_numbers(plan.near.rows, HOST), blob.rows)
            return self.near.rows, np.empty(0, np.int32), blob.start
        if plan.far:
            self.far.write(row_numbers(plan.far.rows, HOST), blob.rows)
            return self.far.rows, plan.far.rows, blob.start
        return blob.rows.pin_memory(), np.arange(blob.tokens, dtype=np.int32), blob.start

    def _from_disk(self, plan: LoadPlan) -> Blob | None:
        """Verified and this model's, else None: a blob that cannot be read is absent."""
        blob = self.store.read(plan.key, self.shard)
        if blob is None or not blob.fits(self.near.layout, self.fingerprint):
            if blob is not None:
                logger.warning("blob %s was made by another model or layout; ignored", plan.key)
            return None
        return blob if (blob.tokens, blob.digest) == (plan.tokens, plan.digest) else None

    def _save(self, plan: EncodePlan, copied: "_HostCopy", at: int) -> bool:
        """Whether the far rows are filled. Whoever asked for the encode looks for the blob on disk."""
        is_filled = False
        try:
            rows = copied.rows()[at : at + plan.tokens]
            if self.far and plan.far:
                self.far.write(row_numbers(plan.far.rows, HOST), rows)
                is_filled = True
            layout = self.near.layout.describe()
            self.store.write(Blob(plan.key, rows, plan.start, plan.digest, layout, self.fingerprint), self.shard)
        except Exception:
            logger.exception("blob %s cannot be written", plan.key)
        return is_filled


@dataclass(frozen=True)
class _HostCopy:
    """Rows in host memory once `copied` has happened."""

    tensor: torch.Tensor
    copied: torch.cuda.Event | None

    def rows(self) -> torch.Tensor:
        if self.copied is not None:
            self.copied.synchronize()
        return self.tensor


def _to_host(rows: torch.Tensor) -> _HostCopy:
    if rows.device.type == "cpu":
        return _HostCopy(rows, None)
    host = torch.empty(rows.shape, dtype=rows.dtype, pin_memory=True)
    host.copy_(rows, non_blocking=True)
    copied = torch.cuda.Event()
    copied.record()
    return _HostCopy(host, copied)
