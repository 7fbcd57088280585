"""What somebody orders of an owner's or a tenant's KV is done, once the engine answers, and to nobody else's."""

from datetime import timedelta
from typing import Any

import pytest
import redis
from django.utils import timezone
from facts.models import Encoding, Fact
from tenants.models import Tenant
from tenants.scope import tenant_scope
from usage.services import owners_demote, owners_promote

from tests.factories import People
from tests.workers.helpers import finished, tasks_in
from tests.workers.test_blobs_follow_their_owners import AFTERWARDS, BOB, chat, look, remember
from tests.workers.troubled_engine import TroubledEngine
from workers.following import Look
from workers.tiering import drop_stale, drop_tenants_kv, follow_activity

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def alice(tenant: Tenant) -> tuple[int, set[str]]:
    return remember(tenant, "Alice lives in Lisbon.", "Alice has a parrot.")


def test_who_is_wanted_in_memory_comes_up_though_idle(
    engine: TroubledEngine, tenant: Tenant, alice: tuple[int, set[str]]
) -> None:
    later = timezone.now() + AFTERWARDS
    look(later)
    owners_promote(tenant=tenant, owner_ids=[alice[0]], now=later)
    assert look(later + timedelta(minutes=1)).promoted == (alice[0],)
    assert set(engine.near) == alice[1]
    assert look(later + timedelta(minutes=2)) == Look()


def test_who_is_wanted_on_disk_leaves_though_active_and_comes_back_with_the_next_chat(
    engine: TroubledEngine, tenant: Tenant, alice: tuple[int, set[str]]
) -> None:
    look()
    now = timezone.now()
    owners_demote(tenant=tenant, owner_ids=[alice[0]], now=now)
    assert look(now) == Look(moved=(alice[0],))
    assert engine.near == {}
    assert look(now) == Look()
    chat(tenant, "alice", at=now + timedelta(seconds=5))
    assert look(now + timedelta(seconds=10)).promoted == (alice[0],)


def test_an_order_waits_for_the_engine(tenant: Tenant, alice: tuple[int, set[str]], settings: Any) -> None:
    owners_promote(tenant=tenant, owner_ids=[alice[0]], now=timezone.now())
    finished(follow_activity)
    with TroubledEngine() as engine:
        settings.ENV = settings.ENV.model_copy(update={"engine_url": engine.url})
        finished(follow_activity)
        assert set(engine.near) == alice[1]


def test_an_order_is_carried_out_at_once(broker: redis.Redis, tenant: Tenant, alice: tuple[int, set[str]]) -> None:
    owners_demote(tenant=tenant, owner_ids=[alice[0]], now=timezone.now())
    assert ("workers.tiering.follow_activity", []) in tasks_in(broker, "tiering")


def test_other_tenants_owners_are_not_moved(people: People, engine: TroubledEngine) -> None:
    with tenant_scope(people.other_tenant):
        theirs, _ = remember(people.other_tenant, "Alice lives in Oslo.")
    look()
    owners_demote(tenant=people.tenant, owner_ids=[theirs], now=timezone.now())
    assert look() == Look()


def test_all_kv_of_a_tenant_is_dropped_and_made_again(
    engine: TroubledEngine, broker: redis.Redis, people: People
) -> None:
    with tenant_scope(people.tenant):
        _, mine = remember(people.tenant, "Alice lives in Lisbon.", "Alice has a parrot.")
        _, bobs = remember(people.tenant, "Bob lives in Oslo.", scopes=BOB)
    with tenant_scope(people.other_tenant):
        _, theirs = remember(people.other_tenant, "Alice lives in Rome.")
    finished(drop_tenants_kv, people.tenant.pk)
    for name, args in tasks_in(broker, "tiering"):
        if name == "workers.tiering.drop_stale":
            finished(drop_stale, *args)
    assert engine.dropped == mine | bobs
    with tenant_scope(people.tenant):
        assert Fact.objects.filter(status="active").count() == 3
        assert not Encoding.objects.filter(key__in=mine | bobs).exists()
    assert [name for name, _ in tasks_in(broker, "encode")].count("workers.encode.encode_fact") >= 3
    with tenant_scope(people.other_tenant):
        assert Encoding.objects.filter(key__in=theirs, state="ready").exists()
