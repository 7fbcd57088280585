"""Worker half: owns tensors, executes the scheduler half's plan, reports what became resident."""

import logging
from concurrent.futures import Future, ThreadPoolExecutor

import torch
from vllm.config import VllmConfig
from vllm.v1.kv_cache_interface import KVCacheConfig

from inference.engine.config import ConnectorConfig
from inference.engine.metadata import EncodePlan, InjectPlan, StepPlan, WorkerReport
from inference.engine.paged import PagedCache
from inference.engine.rotary import model_rotation
from inference.engine.turning import turn_by
from memory.blob import Blob
from memory.rope import Rotation
from memory.store import BlobStore, Shard
from memory.tiers.host import HostTier
from memory.tiers.index import Resident

logger = logging.getLogger(__name__)

LOADERS = 2


class WorkerHalf:
    def __init__(self, config: ConnectorConfig, shard: Shard) -> None:
        self.config, self.shard = config, shard
        self.store = BlobStore(config.store)
        self.host = HostTier()
        self.cache: PagedCache | None = None
        self.rotation: Rotation | None = None
        self._pool = ThreadPoolExecutor(LOADERS, thread_name_prefix="blob")
        self._loading: dict[str, tuple[int, Future[Blob | None]]] = {}
        self._report = WorkerReport()
        self._gathered = torch.empty(0, 0)

    def register(self, vllm_config: VllmConfig, kv_config: KVCacheConfig, caches: dict[str, torch.Tensor]) -> None:
        """Raises RotaryUnsupported or LayoutUnknown: this model's KV cannot be injected."""
        self.rotation = model_rotation(vllm_config.model_config.hf_text_config)
        self.cache = PagedCache(vllm_config, kv_config, caches)

    def before_forward(self, plan: StepPlan) -> None:
        for inject in plan.inject:
            self._inject(inject)
        for key in plan.drop:
            self.host.drop(key)
            self._loading.pop(key, None)
        for key in plan.stage:
            self._loading[key] = plan.ticket, self._pool.submit(self._load, key)

    def after_forward(self, plan: StepPlan) -> None:
        for encode in plan.encode:
            blob = self._read(encode)
            self._admit(blob, plan.ticket)
            self._pool.submit(self._save, blob)

    def take_report(self) -> WorkerReport | None:
        for key, (ticket, future) in list(self._loading.items()):
            if future.done():
                del self._loading[key]
                if blob := future.result():
                    self._admit(blob, ticket)
                else:
                    self._report.lost.add((key, ticket))
        report, self._report = self._report, WorkerReport()
        return report if report.residents or report.lost else None

    def shutdown(self) -> None:
        self._pool.shutdown(wait=True)

    def _admit(self, blob: Blob, ticket: int) -> None:
        self.host.put(blob)
        self._report.add((blob.key, ticket), Resident(blob.tokens, blob.digest, blob.nbytes))

    def _inject(self, plan: InjectPlan) -> None:
        assert self.cache is not None
        assert self.rotation is not None
        parts, moved = self._parts([self.host.get(key) for key in plan.keys], plan.start, plan.end)
        rows = self._gather(parts).to(self.cache.device)
        turn = turn_by(self.rotation, moved, self.cache.device)
        layers = ((turn(key), value.contiguous()) for key, value in self.cache.layout.layer_views(rows))
        self.cache.write(layers, plan.start, plan.block_ids)

    def _gather(self, parts: list[torch.Tensor]) -> torch.Tensor:
        """Rows one after the other, in memory that is kept: fresh megabytes a request would cost their page faults."""
        tokens = sum(len(part) for part in parts)
        if len(self._gathered) < tokens:
            self._gathered = parts[0].new_empty(2 * tokens, parts[0].shape[1])
        return torch.cat(parts, out=self._gathered[:tokens])

    @staticmethod
    def _parts(blobs: list[Blob], start: int, end: int) -> tuple[list[torch.Tensor], torch.Tensor]:
        """Rows of prompt positions `[start, end)` and how far each is moved from where it was encoded."""
        rows, moved, at = [], [], 0
        for blob in blobs:
            first, last = max(start - at, 0), min(end - at, blob.tokens)
            if first < last:
                rows.append(blob.rows[first:last])
                moved.append(torch.full((last - first,), at - blob.start))
            at += blob.tokens
        return rows, torch.cat(moved)

    def _read(self, plan: EncodePlan) -> Blob:
        assert self.cache is not None
        rows = self.cache.read(plan.start, plan.end, plan.block_ids).cpu()
        layout = self.cache.layout.describe()
        return Blob(plan.key, rows, plan.start, plan.digest, layout, self.config.fingerprint)

    def _load(self, key: str) -> Blob | None:
        """Verified and this model's, else None: a blob that cannot be read is absent."""
        assert self.cache is not None
        try:
            blob = self.store.read(key, self.shard)
        except OSError as error:
            logger.error("blob %s cannot be read: %s", key, error)
            return None
        if blob is not None and not blob.fits(self.cache.layout, self.config.fingerprint):
            logger.warning("blob %s was made by another model or layout; ignored", key)
            return None
        return blob

    def _save(self, blob: Blob) -> None:
        """Whoever asked for the encode looks for the blob on disk, so a failure is theirs to notice."""
        try:
            self.store.write(blob, self.shard)
        except OSError as error:
            logger.error("blob %s cannot be written: %s", blob.key, error)
