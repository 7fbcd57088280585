"""The class vLLM loads: picks a half by role and delegates."""

from typing import Any

import torch
from vllm.config import VllmConfig
from vllm.distributed.kv_transfer.kv_connector.v1.base import (
    KVConnectorBase_V1,
    KVConnectorMetadata,
    KVConnectorRole,
    SupportsHMA,
)
from vllm.distributed.kv_transfer.kv_connector.v1.metrics import PromMetric, PromMetricT
from vllm.forward_context import ForwardContext
from vllm.v1.core.kv_cache_manager import KVCacheBlocks
from vllm.v1.core.sched.output import SchedulerOutput
from vllm.v1.kv_cache_interface import KVCacheConfig
from vllm.v1.outputs import KVConnectorOutput
from vllm.v1.request import Request

from inference.engine.arenas import ArenaPlan, block_groups, refuse_unsupported
from inference.engine.config import ConnectorConfig
from inference.engine.metadata import StepPlan, WorkerReport
from inference.engine.parent import end_with_parent
from inference.engine.residency import Residency
from inference.engine.scheduler import SchedulerHalf
from inference.engine.stats import ConnectorMetrics, ConnectorStats
from inference.engine.worker import WorkerHalf
from memory.store import Shard
from memory.tiers.books import TierBooks


class InferScaleConnector(KVConnectorBase_V1, SupportsHMA):
    """Encodes and injects facts' KV as `kv_transfer_params` ask. Both halves are in files of their own."""

    def __init__(self, vllm_config: VllmConfig, role: KVConnectorRole, kv_cache_config: KVCacheConfig) -> None:
        super().__init__(vllm_config, role, kv_cache_config)
        extra = self._kv_transfer_config.kv_connector_extra_config
        config = ConnectorConfig.read(extra, model=vllm_config.model_config.model)
        refuse_unsupported(vllm_config, ranks=config.ranks)
        parallel = vllm_config.parallel_config
        self._kv_config = kv_cache_config
        self._scheduler = self._worker = None
        if role is KVConnectorRole.SCHEDULER:  # in vLLM's core; its workers end with that by themselves
            if config.ends_with_parent:
                end_with_parent()
            plan = ArenaPlan.read(config, vllm_config, kv_cache_config)
            near = TierBooks(plan.near_rows, config.tenant_share)
            far = TierBooks(plan.far_rows, config.tenant_share) if plan.far_rows else None
            residency = Residency(near, far, parallel.world_size)
            self._scheduler = SchedulerHalf(config, residency, plan.layout.row_bytes, block_groups(kv_cache_config))
        else:
            self._worker = WorkerHalf(config, Shard(parallel.rank, parallel.world_size))

    @property
    def requires_kv_delivery(self) -> bool:
        return False

    # Worker half

    def register_kv_caches(self, kv_caches: dict[str, torch.Tensor]) -> None:
        self._workers().register(self._vllm_config, self._kv_config, kv_caches)

    def handle_preemptions(self, kv_connector_metadata: KVConnectorMetadata) -> None:
        """vLLM's first call in a step. Where it zeroes new blocks, it does so after this: then injection waits."""
        if not self._kv_config.needs_kv_cache_zeroing:
            assert isinstance(kv_connector_metadata, StepPlan)
            self._workers().begin(kv_connector_metadata)

    def start_load_kv(self, forward_context: ForwardContext, **kwargs: Any) -> None:
        self._workers().before_forward(self._plan())

    def wait_for_layer_load(self, layer_name: str) -> None:
        """Nothing to wait for: injection is done before the forward starts."""

    def save_kv_layer(self, layer_name: str, kv_layer: torch.Tensor, attn_metadata: Any, **kwargs: Any) -> None:
        """Nothing to do a layer at a time: spans are read after the forward."""

    def wait_for_save(self) -> None:
        self._workers().after_forward(self._plan())

    def build_connector_worker_meta(self) -> WorkerReport | None:
        return self._workers().take_report()

    def shutdown(self) -> None:
        if self._worker:
            self._worker.shutdown()

    # Scheduler half

    def on_new_request(self, request: Request) -> None:
        self._schedulers().on_new_request(request)

    def get_num_new_matched_tokens(self, request: Request, num_computed_tokens: int) -> tuple[int | None, bool]:
        return self._schedulers().matched_tokens(request, num_computed_tokens), False

    def update_state_after_alloc(self, request: Request, blocks: KVCacheBlocks, num_external_tokens: int) -> None:
        self._schedulers().after_alloc(request, blocks.get_block_ids(), num_external_tokens)

    def build_connector_meta(self, scheduler_output: SchedulerOutput) -> KVConnectorMetadata:
        return self._schedulers().plan_step(scheduler_output)

    def has_pending_push_work(self) -> bool:
        return self._schedulers().has_work

    def update_connector_output(self, connector_output: KVConnectorOutput) -> None:
        if isinstance(connector_output.kv_connector_worker_meta, WorkerReport):
            self._schedulers().on_report(connector_output.kv_connector_worker_meta)

    def request_finished(self, request: Request, block_ids: list[int]) -> tuple[bool, dict[str, Any] | None]:
        return False, self._schedulers().on_finished(request)

    def request_finished_all_groups(
        self, request: Request, block_ids: tuple[list[int], ...]
    ) -> tuple[bool, dict[str, Any] | None]:
        return False, self._schedulers().on_finished(request)

    # Counters

    def get_kv_connector_stats(self) -> ConnectorStats | None:
        return self._scheduler.take_stats() if self._scheduler else None

    @classmethod
    def build_kv_connector_stats(cls, data: dict[str, Any] | None = None) -> ConnectorStats:
        return ConnectorStats(data=data or {})

    @classmethod
    def build_prom_metrics(
        cls,
        vllm_config: VllmConfig,
        metric_types: dict[type[PromMetric], type[PromMetricT]],
        labelnames: list[str],
        per_engine_labelvalues: dict[int, list[object]],
    ) -> ConnectorMetrics:
        return ConnectorMetrics(vllm_config, metric_types, labelnames, per_engine_labelvalues)

    def _plan(self) -> StepPlan:
        plan = self._get_connector_metadata()
        assert isinstance(plan, StepPlan)
        return plan

    def _schedulers(self) -> SchedulerHalf:
        assert self._scheduler is not None
        return self._scheduler

    def _workers(self) -> WorkerHalf:
        assert self._worker is not None
        return self._worker
