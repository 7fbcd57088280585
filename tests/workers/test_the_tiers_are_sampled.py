"""How full the engine's tiers are, from its Prometheus page into the database."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from usage.models import TierSample

from tests.workers.helpers import finished
from tests.workers.troubled_engine import TroubledEngine
from workers.metrics import TierUse
from workers.parts import blobs
from workers.port import EngineDown
from workers.tiering import sample_tiers

pytestmark = pytest.mark.django_db(transaction=True)
COUNTS = {"near_hits": 40, "near_filled": 9, "near_evicted": 2, "far_hits": 4, "far_filled": 11, "far_evicted": 1}
GPU = {"near_rows": 1000, "near_rows_used": 250, "far_rows": 5000, "far_rows_used": 900, "row_bytes": 64}
CPU = {**GPU, "far_rows": 0, "far_rows_used": 0}


def page(gauges: dict[str, int], engines: int = 1) -> str:
    """As prometheus_client writes it, between others' metrics."""
    lines = ["# HELP vllm:num_requests_running Number.", "# TYPE vllm:num_requests_running gauge"]
    lines.append('vllm:num_requests_running{engine="0",model_name="m"} 3.0')
    for name, value in gauges.items():
        lines += [f"# HELP inferscale:{name} Text.", f"# TYPE inferscale:{name} gauge"]
        lines += [f'inferscale:{name}{{engine="{i}",model_name="m"}} {float(value)}' for i in range(engines)]
    for name, value in {**COUNTS, "lost_blobs": 3}.items():
        lines += [f"# HELP inferscale:{name}_total Text.", f"# TYPE inferscale:{name}_total counter"]
        lines += [f'inferscale:{name}_total{{engine="{i}",model_name="m"}} {float(value)}' for i in range(engines)]
        lines += [f"# TYPE inferscale:{name}_created gauge", f"inferscale:{name}_created 1.7e+09"]
    return "\n".join(lines) + "\n"


def test_the_engines_page_is_read(engine: TroubledEngine) -> None:
    engine.page = page(GPU)
    metrics = blobs().engine.metrics()
    assert metrics.near == TierUse(rows=1000, rows_used=250, row_bytes=64, hits=40, filled=9, evicted=2)
    assert metrics.far == TierUse(rows=5000, rows_used=900, row_bytes=64, hits=4, filled=11, evicted=1)
    assert metrics.lost == 3


def test_several_engines_are_summed(engine: TroubledEngine) -> None:
    engine.page = page(CPU, engines=2)
    near = blobs().engine.metrics().near
    assert (near.rows, near.row_bytes, near.hits) == (2000, 64, 80)
    assert (near.bytes, near.bytes_used) == (128_000, 32_000)


def test_both_tiers_of_a_gpu_are_stored(engine: TroubledEngine) -> None:
    engine.page = page(GPU)
    finished(sample_tiers)
    gpu, host = TierSample.objects.order_by("tier")
    assert (gpu.tier, gpu.bytes, gpu.bytes_used, gpu.hits, gpu.filled, gpu.evicted) == ("gpu", 64_000, 16_000, 40, 9, 2)
    assert (host.tier, host.bytes, host.bytes_used, host.hits, host.lost) == ("host", 320_000, 57_600, 4, 3)
    assert gpu.time == host.time


def test_without_a_gpu_the_near_tier_is_the_host(engine: TroubledEngine) -> None:
    engine.page = page(CPU)
    finished(sample_tiers)
    sample = TierSample.objects.get()
    assert (sample.tier, sample.bytes_used, sample.hits) == ("host", 16_000, 40)


def test_nothing_is_stored_before_the_first_report_nor_without_an_engine(settings: Any) -> None:
    finished(sample_tiers)
    with TroubledEngine() as engine:
        settings.ENV = settings.ENV.model_copy(update={"engine_url": engine.url})
        engine.page = page({})
        finished(sample_tiers)
    assert not TierSample.objects.exists()


def test_what_is_no_metrics_page_is_not_the_engine(engine: TroubledEngine) -> None:
    engine.page = "<html>{</html>"
    with pytest.raises(EngineDown, match="no metrics"):
        blobs().engine.metrics()


def test_samples_are_kept_for_ninety_days(engine: TroubledEngine) -> None:
    engine.page = page(CPU)
    zeros = dict.fromkeys(("bytes", "bytes_used", "hits", "filled", "evicted", "lost"), 0)
    for days in (89, 91):
        TierSample.objects.create(time=timezone.now() - timedelta(days=days), tier="gpu", **zeros)
    finished(sample_tiers)
    ages = [(timezone.now() - sample.time).days for sample in TierSample.objects.order_by("time")]
    assert ages == [89, 0]
