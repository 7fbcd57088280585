"""How full the engine's tiers are, from its Prometheus page into the database."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone
from tenants.models import Tenant
from tenants.scope import tenant_scope
from usage.engine_metrics import TierUse
from usage.models import TierHolding, TierSample

from tests.factories import People, add_facts, encode_fact
from tests.workers.helpers import finished
from tests.workers.troubled_engine import TroubledEngine
from workers.parts import blobs
from workers.port import EngineDown
from workers.tiering import sample_tiers

pytestmark = pytest.mark.django_db(transaction=True)
COUNTS = {
    **{"near_hits": 40, "near_filled": 9, "near_evicted": 2, "near_lookups": 60, "near_found": 45},
    **{"far_hits": 4, "far_filled": 11, "far_evicted": 1, "far_lookups": 15, "far_found": 12},
    **{"disk_hits": 7, "encoded_spans": 5, "lost_blobs": 3},
}
NEAR = {"near_rows": 1000, "near_rows_used": 250, "near_blobs": 25, "row_bytes": 64}
GPU = {**NEAR, "far_rows": 5000, "far_rows_used": 900, "far_blobs": 90}
CPU = {**NEAR, "far_rows": 0, "far_rows_used": 0, "far_blobs": 0}


def page(gauges: dict[str, int], engines: int = 1) -> str:
    """As prometheus_client writes it, between others' metrics."""
    lines = ["# HELP vllm:num_requests_running Number.", "# TYPE vllm:num_requests_running gauge"]
    lines.append('vllm:num_requests_running{engine="0",model_name="m"} 3.0')
    for name, value in gauges.items():
        lines += [f"# HELP inferscale:{name} Text.", f"# TYPE inferscale:{name} gauge"]
        lines += [f'inferscale:{name}{{engine="{i}",model_name="m"}} {float(value)}' for i in range(engines)]
    for name, value in COUNTS.items():
        lines += [f"# HELP inferscale:{name}_total Text.", f"# TYPE inferscale:{name}_total counter"]
        lines += [f'inferscale:{name}_total{{engine="{i}",model_name="m"}} {float(value)}' for i in range(engines)]
        lines += [f"# TYPE inferscale:{name}_created gauge", f"inferscale:{name}_created 1.7e+09"]
    return "\n".join(lines) + "\n"


def test_the_engines_page_is_read(engine: TroubledEngine) -> None:
    engine.page = page(GPU)
    metrics = blobs().engine.metrics()
    assert metrics.near == TierUse(1000, 250, 64, hits=40, filled=9, evicted=2, blobs=25, lookups=60, found=45)
    assert metrics.far == TierUse(5000, 900, 64, hits=4, filled=11, evicted=1, blobs=90, lookups=15, found=12)
    assert (metrics.lost, metrics.disk_hits, metrics.encoded) == (3, 7, 5)
    assert metrics.load.running == 3


def test_several_engines_are_summed(engine: TroubledEngine) -> None:
    engine.page = page(CPU, engines=2)
    near = blobs().engine.metrics().near
    assert (near.rows, near.row_bytes, near.hits) == (2000, 64, 80)
    assert (near.bytes, near.bytes_used) == (128_000, 32_000)


def test_both_tiers_of_a_gpu_are_stored(engine: TroubledEngine) -> None:
    engine.page = page(GPU)
    finished(sample_tiers)
    disk, gpu, host = TierSample.objects.order_by("tier")
    assert (gpu.tier, gpu.bytes, gpu.bytes_used, gpu.hits, gpu.filled, gpu.evicted) == ("gpu", 64_000, 16_000, 40, 9, 2)
    assert (host.tier, host.bytes, host.bytes_used, host.hits, host.lost) == ("host", 320_000, 57_600, 4, 3)
    assert gpu.time == host.time == disk.time


def test_without_a_gpu_the_near_tier_is_the_host(engine: TroubledEngine) -> None:
    engine.page = page(CPU)
    finished(sample_tiers)
    sample = TierSample.objects.get(tier="host")
    assert not TierSample.objects.filter(tier="gpu").exists()
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
    assert ages == [89, 0, 0]


def test_the_disk_is_what_is_served_and_what_is_free(engine: TroubledEngine, people: People) -> None:
    with tenant_scope(people.tenant):
        (fact,) = add_facts(people.tenant, "Alice lives in Lisbon.")
        encode_fact(fact)
    engine.page = page(CPU)
    finished(sample_tiers)
    disk = TierSample.objects.get(tier="disk")
    assert (disk.bytes_used, disk.blobs) == (4096, 1)
    assert disk.bytes > 4096
    assert (disk.hits, disk.lookups, disk.found, disk.filled) == (7, 10, 7, 5)


def test_what_requests_found_where_is_counted(engine: TroubledEngine) -> None:
    engine.page = page(GPU)
    finished(sample_tiers)
    gpu, host = TierSample.objects.filter(tier__in=("gpu", "host")).order_by("tier")
    assert (gpu.lookups, gpu.found, gpu.blobs) == (60, 45, 25)
    assert (host.lookups, host.found, host.blobs) == (15, 12, 90)


def held(tenant: Tenant) -> dict[tuple[str, str], tuple[int, int]]:
    with tenant_scope(tenant):
        rows = TierHolding.objects.select_related("owner")
        return {(row.owner.name, row.tier): (row.blobs, row.bytes) for row in rows}


def test_whose_blobs_lie_in_memory_is_known(engine: TroubledEngine, people: People) -> None:
    keys: dict[str, list[str]] = {}
    for tenant in (people.tenant, people.other_tenant):
        with tenant_scope(tenant):
            keys[tenant.slug] = [encode_fact(fact).key for fact in add_facts(tenant, "Likes tea.", "Keeps bees.")]
    mine, theirs = keys[people.tenant.slug], keys[people.other_tenant.slug]
    engine.held = {"gpu": [*mine, theirs[0]], "host": [mine[1], "f" * 64]}
    finished(sample_tiers)
    assert held(people.tenant) == {("alice", "gpu"): (2, 8192), ("alice", "host"): (1, 4096)}
    assert held(people.other_tenant) == {("alice", "gpu"): (1, 4096)}
    engine.held = {"gpu": []}
    finished(sample_tiers)
    assert held(people.tenant) == held(people.other_tenant) == {}


def test_an_engine_in_trouble_leaves_what_was_known_and_one_that_ended_nothing(people: People, settings: Any) -> None:
    with tenant_scope(people.tenant):
        (fact,) = add_facts(people.tenant, "Likes tea.")
        key = encode_fact(fact).key
    with TroubledEngine() as engine:
        settings.ENV = settings.ENV.model_copy(update={"engine_url": engine.url})
        engine.held = {"host": [key]}
        finished(sample_tiers)
        engine.tier = lambda body: (503, {})
        finished(sample_tiers)
        assert held(people.tenant) == {("alice", "host"): (1, 4096)}
    finished(sample_tiers)
    assert held(people.tenant) == {}


def test_an_object_store_has_no_bound(engine: TroubledEngine, bucket: str, people: People, settings: Any) -> None:
    settings.ENV = settings.ENV.model_copy(update={"store_url": bucket})
    engine.page = page(CPU)
    finished(sample_tiers)
    assert TierSample.objects.get(tier="disk").bytes == 0
