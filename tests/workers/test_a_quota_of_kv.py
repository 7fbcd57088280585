"""A tenant whose quota of KV is used up has further facts sent as text, until there is room again; the engine is told
how much of its memory each may have.
"""

import pytest
import redis
from facts.models import Encoding
from tenants.models import Tenant
from tenants.services import quota_set

from memory.contracts import MemoryLimit
from memory.store import BlobStore
from tests.factories import People, add_facts
from tests.workers.helpers import finished, plan_of, ready, run_task, write_blobs
from tests.workers.test_beat_finds_what_was_lost import FACT, swept
from tests.workers.troubled_engine import TroubledEngine
from workers.tiering import limit_memory

pytestmark = pytest.mark.django_db(transaction=True)


def test_no_blob_is_made_beyond_it_and_beat_goes_on_when_it_is_raised(
    store: BlobStore, people: People, tenant: Tenant, broker: redis.Redis
) -> None:
    first, second = add_facts(tenant, "Bob lives in Lisbon.", "Ann has a parrot.")
    ready(store, first)
    write_blobs(store, plan_of(second, first))
    quota_set(tenant=tenant, limits={"kv_disk_bytes": 1}, actor="test")
    run_task(second)
    assert not Encoding.objects.filter(fact=second).exists()
    assert swept(broker) == []
    quota_set(tenant=tenant, limits={"kv_disk_bytes": 1 << 30}, actor="test")
    assert swept(broker) == [(FACT, [str(tenant.pk), str(second.pk)])]
    run_task(second)
    assert Encoding.objects.get(fact=second).state == "ready"


def test_the_engine_is_told_the_limits_that_there_are(engine: TroubledEngine, people: People, tenant: Tenant) -> None:
    finished(limit_memory)
    assert engine.tierings == []
    quota_set(tenant=tenant, limits={"kv_gpu_bytes": 1 << 20, "kv_host_bytes": None}, actor="test")
    quota_set(tenant=people.other_tenant, limits={"facts": 1}, actor="test")
    finished(limit_memory)
    assert engine.limits == (MemoryLimit(str(tenant.pk), 1 << 20, None),)
    quota_set(tenant=tenant, limits={"kv_gpu_bytes": None}, actor="test")
    finished(limit_memory)
    assert not engine.limits


def test_an_engine_that_is_away_is_told_later(tenant: Tenant) -> None:
    quota_set(tenant=tenant, limits={"kv_gpu_bytes": 1}, actor="test")
    finished(limit_memory)
