"""Worker half: owns tensors, executes the scheduler half's plan, reports what became resident."""

import logging

import torch
from vllm.config import VllmConfig
from vllm.v1.kv_cache_interface import KVCacheConfig

from inference.engine.arenas import ArenaPlan
from inference.engine.blockmap import LayoutUnknown
from inference.engine.compat import has_uniform_groups
from inference.engine.config import ConnectorConfig
from inference.engine.fused import FusedMover, NotAffine
from inference.engine.loader import Loader
from inference.engine.metadata import StepPlan, WorkerReport
from inference.engine.mover import GeneralMover, Mover, row_numbers
from inference.engine.paged import PagedCache
from inference.engine.rotary import model_rotation
from inference.engine.sweeper import Sweeper
from memory.rope import Rotation
from memory.store import Shard, open_store
from memory.tiers.arena import Arena

logger = logging.getLogger(__name__)


class WorkerHalf:
    def __init__(self, config: ConnectorConfig, shard: Shard) -> None:
        self.config, self.shard = config, shard
        self._report = WorkerReport()
        self._begun: StepPlan | None = None

    def register(self, vllm_config: VllmConfig, kv_config: KVCacheConfig, caches: dict[str, torch.Tensor]) -> None:
        """Raises RotaryUnsupported or LayoutUnknown: this model's KV cannot be injected."""
        plan = ArenaPlan.read(self.config, vllm_config, kv_config)
        rotation = model_rotation(vllm_config.model_config.hf_text_config)
        cache = PagedCache(vllm_config, kv_config, caches)
        if plan.layout.layers != cache.shapes:
            raise LayoutUnknown(f"planned for layers {plan.layout.layers}, found {cache.shapes}")
        if len(set(cache.shapes)) > 1 and has_uniform_groups(kv_config):
            raise LayoutUnknown("layers of unlike shapes share a block table: the scheduler cannot tell their sizes")
        self.near = Arena(plan.layout, plan.near_rows, cache.device)
        self.far = Arena(plan.layout, plan.far_rows, torch.device("cpu"), pinned=True) if plan.far_rows else None
        self.mover = choose_mover(cache, self.near, rotation)
        store = open_store(self.config.store, self.config.store_url, self.config.store_cache_bytes)
        self.loader = Loader(store, self.shard, self.near, self.far, self.config.fingerprint)
        self.sweeper = Sweeper(store) if self.config.store_url else None
        logger.info("%s moves %d bytes a token; %s rows beside the model, %s in host memory",
                    type(self.mover).__name__, plan.layout.row_bytes, plan.near_rows, plan.far_rows)  # fmt: skip

    def begin(self, plan: StepPlan) -> None:
        """Inject, once a plan. Early in a step, so that a GPU does it while the step's inputs are prepared."""
        if plan is self._begun:
            return
        self._begun = plan
        if len(plan.erase_near):
            self.near.erase(row_numbers(plan.erase_near, self.near.rows.device))
        if self.far is not None and len(plan.erase_far):
            self.far.erase(row_numbers(plan.erase_far, self.far.rows.device))
        if plan.drop:
            self.loader.drop_copies(plan.drop)
        self.mover.inject(plan.inject)

    def before_forward(self, plan: StepPlan) -> None:
        self.begin(plan)
        self.loader.load(plan.load)

    def after_forward(self, plan: StepPlan) -> None:
        if plan.encode:
            self.loader.save(plan.encode, self.mover.read(plan.encode), self._report)

    def take_report(self) -> WorkerReport | None:
        self.loader.collect(self._report)
        report, self._report = self._report, WorkerReport()
        return None if report.is_empty else report

    def shutdown(self) -> None:
        if self.sweeper:
            self.sweeper.close()
        self.loader.close()


def choose_mover(cache: PagedCache, arena: Arena, rotation: Rotation) -> Mover:
    """One kernel on a GPU, unless the backend packs its blocks in an order of its own."""
    if cache.device.type == "cuda":
        try:
            fused = FusedMover(cache, arena, rotation)
            fused.warm()
        except NotAffine as problem:
            logger.warning("injection takes the general path: %s", problem)
        else:
            return fused
    return GeneralMover(cache, arena, rotation)
