"""Requests that the scheduler half gives no KV, whatever they ask for."""

from pathlib import Path

import pytest
from vllm.config import ParallelConfig, VllmConfig
from vllm.lora.request import LoRARequest
from vllm.sampling_params import SamplingParams
from vllm.v1.request import Request

from inference.engine.arenas import refuse_unsupported
from inference.engine.config import ConnectorConfig
from inference.engine.metadata import Slot, WorkerReport
from inference.engine.residency import Residency
from inference.engine.scheduler import SchedulerHalf
from memory.contracts import EncodeParams, InjectParams, Segment, Span
from memory.digest import token_digest
from memory.tiers.books import TierBooks

IDS = list(range(100, 120))
SEGMENT = Segment("a" * 64, 12, token_digest(IDS[:12]))


@pytest.fixture
def half(tmp_path: Path) -> SchedulerHalf:
    """The segment's KV lies beside the paged cache."""
    residency = Residency(TierBooks(64), None, 1)
    assert residency.want(SEGMENT, "t")
    (plan,) = residency.take_loads()
    assert isinstance(plan.near, Slot)
    report = WorkerReport()
    report.add(plan.near, 0)
    residency.on_report(report)
    config = ConnectorConfig.read({"store": str(tmp_path), "fingerprint": "f"}, model="m")
    return SchedulerHalf(config, residency, 8, ())


def request(params: InjectParams | EncodeParams, *, adapter: bool) -> Request:
    sampling = SamplingParams(max_tokens=4, extra_args={"kv_transfer_params": params.to_params()})
    lora = LoRARequest("tuned", 1, "/adapters/tuned") if adapter else None
    return Request("r", IDS, sampling, None, lora_request=lora)


@pytest.mark.parametrize(("adapter", "matched"), [(False, 12), (True, 0)])
def test_an_adapters_request_gets_no_kv_of_the_bare_model(half: SchedulerHalf, adapter: bool, matched: int) -> None:
    asked = request(InjectParams("t", (SEGMENT,)), adapter=adapter)
    half.on_new_request(asked)
    assert half.matched_tokens(asked, 0) == matched


@pytest.mark.parametrize(("adapter", "accepted"), [(False, ("a" * 64,)), (True, ())])
def test_what_an_adapter_computes_is_not_kept(half: SchedulerHalf, adapter: bool, accepted: tuple[str, ...]) -> None:
    asked = request(EncodeParams("t", (Span("a" * 64, 0, 12),)), adapter=adapter)
    half.on_new_request(asked)
    encoding = half._encodings.get(asked.request_id)
    assert (encoding.accepted if encoding else ()) == accepted


def test_data_parallel_ranks_are_refused() -> None:
    """An order, such as a deletion, reaches one of them."""
    config = VllmConfig()
    refuse_unsupported(config)
    config.parallel_config = ParallelConfig(data_parallel_size=2)
    with pytest.raises(ValueError, match="INFERSCALE_ENGINE_URLS"):
        refuse_unsupported(config)


def test_another_number_of_ranks_than_blobs_are_named_for_is_refused() -> None:
    config = VllmConfig()
    refuse_unsupported(config, ranks=1)
    with pytest.raises(ValueError, match="INFERSCALE_TENSOR_PARALLEL_SIZE"):
        refuse_unsupported(config, ranks=2)
