"""Whoever becomes active finds the blobs in memory; whoever is idle for long has them moved to disk, once."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.utils import timezone
from facts.models import Fact, Owner
from facts.scopes import Scopes
from facts.selectors import blobs_of_owner
from tenants.models import Tenant
from tenants.scope import every_tenant, tenant_scope
from usage.models import OwnerActivity
from usage.services import RequestRecordData, request_records_write

from memory.contracts import MAX_ITEMS
from tests.factories import ALICE, People, add_facts, encode_fact
from tests.workers.helpers import finished
from tests.workers.troubled_engine import TroubledEngine
from workers import following
from workers.following import Look, follow
from workers.parts import blobs
from workers.tiering import follow_activity

pytestmark = pytest.mark.django_db(transaction=True)
BOB = Scopes(user_id="bob")
AFTERWARDS = timedelta(hours=2)


def remember(tenant: Tenant, *texts: str, scopes: Scopes = ALICE) -> tuple[int, set[str]]:
    """The owner, and the keys of the ready encodings."""
    facts = add_facts(tenant, *texts, scopes=scopes)
    return facts[0].owner_id, {encode_fact(fact).key for fact in facts}


def chat(tenant: Tenant, name: str, *, at: datetime, mode: str = "inject") -> None:
    record = RequestRecordData(tenant_id=tenant.pk, mode=mode, status=200, owner_name=name, created_at=at)
    request_records_write([record])


def look(now: datetime | None = None) -> Look:
    return follow(blobs().engine, now=now)


@pytest.fixture
def alice(tenant: Tenant) -> tuple[int, set[str]]:
    return remember(tenant, "Alice lives in Lisbon.", "Alice has a parrot.")


def test_an_owner_who_is_told_something_is_promoted(
    engine: TroubledEngine, tenant: Tenant, alice: tuple[int, set[str]], settings: Any
) -> None:
    finished(follow_activity)
    assert engine.near == dict.fromkeys(alice[1], str(tenant.pk))
    assert set(engine.keys) == {f"Bearer {settings.ENGINE_SERVICE_KEY}"}


def test_an_idle_owner_leaves_memory(engine: TroubledEngine, alice: tuple[int, set[str]]) -> None:
    look()
    assert look(timezone.now() + timedelta(seconds=3500)) == Look()
    assert set(engine.near) == alice[1]
    assert look(timezone.now() + AFTERWARDS) == Look(moved=(alice[0],))
    assert engine.near == {}


def test_how_long_is_configured(engine: TroubledEngine, alice: tuple[int, set[str]], settings: Any) -> None:
    settings.ENV = settings.ENV.model_copy(update={"idle_seconds": 60})
    look()
    assert look(timezone.now() + timedelta(seconds=65)) == Look(moved=(alice[0],))


def test_each_is_done_once(engine: TroubledEngine, alice: tuple[int, set[str]]) -> None:
    look()
    assert look() == Look()
    later = timezone.now() + AFTERWARDS
    look(later)
    assert look(later + timedelta(minutes=1)) == Look()
    assert len(engine.tierings) == 2


@pytest.mark.parametrize("mode", ["inject", "prompt"])
def test_a_chat_brings_an_idle_owner_back(
    engine: TroubledEngine, tenant: Tenant, alice: tuple[int, set[str]], mode: str
) -> None:
    later = timezone.now() + AFTERWARDS
    look(later)
    chat(tenant, "alice", at=later + timedelta(seconds=30), mode=mode)
    assert look(later + timedelta(seconds=60)) == Look(promoted=(alice[0],))
    assert set(engine.near) == alice[1]


def test_a_new_fact_brings_an_idle_owner_back(
    engine: TroubledEngine, tenant: Tenant, alice: tuple[int, set[str]]
) -> None:
    later = timezone.now() + AFTERWARDS
    look(later)
    (fact,) = add_facts(tenant, "Alice plays the accordion.")
    Fact.objects.filter(pk=fact.pk).update(created_at=later + timedelta(seconds=30))
    assert look(later + timedelta(seconds=60)).promoted == (alice[0],)
    assert set(engine.near) == alice[1]


def test_a_chat_without_memory_is_no_activity(
    engine: TroubledEngine, tenant: Tenant, alice: tuple[int, set[str]]
) -> None:
    later = timezone.now() + AFTERWARDS
    look(later)
    chat(tenant, "alice", at=later, mode="none")
    assert look(later + timedelta(seconds=60)) == Look()


def test_a_record_written_late_still_counts(
    engine: TroubledEngine, tenant: Tenant, alice: tuple[int, set[str]]
) -> None:
    bob, _ = remember(tenant, "Bob lives in Oslo.", scopes=BOB)
    later = timezone.now() + AFTERWARDS
    look(later)
    chat(tenant, "bob", at=later + timedelta(seconds=50))
    assert look(later + timedelta(seconds=60)).promoted == (bob,)
    chat(tenant, "alice", at=later + timedelta(seconds=45))
    assert look(later + timedelta(seconds=120)).promoted == (alice[0],)


def test_activity_while_no_worker_looked_is_found(
    engine: TroubledEngine, tenant: Tenant, alice: tuple[int, set[str]]
) -> None:
    look()
    bob, _ = remember(tenant, "Bob lives in Oslo.", scopes=BOB)
    tomorrow = timezone.now() + timedelta(days=1)
    chat(tenant, "alice", at=tomorrow - timedelta(minutes=20))
    assert look(tomorrow) == Look(moved=(bob,))


def test_a_clock_that_is_ahead_hides_nobody(
    engine: TroubledEngine, tenant: Tenant, alice: tuple[int, set[str]]
) -> None:
    bob, _ = remember(tenant, "Bob lives in Oslo.", scopes=BOB)
    later = timezone.now() + AFTERWARDS
    look(later)
    chat(tenant, "bob", at=later + timedelta(days=400))
    assert look(later + timedelta(seconds=60)).promoted == (bob,)
    chat(tenant, "alice", at=later + timedelta(seconds=90))
    assert look(later + timedelta(seconds=120)).promoted == (alice[0],)


def test_an_engine_that_is_away_is_asked_at_the_next_look(alice: tuple[int, set[str]], settings: Any) -> None:
    finished(follow_activity)
    with TroubledEngine() as engine:
        settings.ENV = settings.ENV.model_copy(update={"engine_url": engine.url})
        engine.tier = lambda body: (503, {})
        assert look() == Look(left=(alice[0],))
        engine.tier = lambda body: (500, {})
        assert look(timezone.now() + AFTERWARDS) == Look(left=(alice[0],))
        engine.tier = lambda body: (200, {})
        assert look() == Look(promoted=(alice[0],))
        assert set(engine.near) == alice[1]


def test_a_look_is_bounded_and_begins_with_the_most_recently_active(
    engine: TroubledEngine, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(following, "OWNERS", 2)
    owners = [remember(tenant, "It is me.", scopes=Scopes(user_id=f"user {n}"))[0] for n in range(3)]
    now = timezone.now()
    for minutes, owner_id in enumerate(owners):
        Fact.objects.filter(owner_id=owner_id).update(created_at=now - timedelta(minutes=minutes))
    assert look(now) == Look(promoted=(owners[0], owners[1]), left=(owners[2],))
    assert look(now) == Look(promoted=(owners[2],))
    later = now + AFTERWARDS
    assert look(later) == Look(moved=(owners[2], owners[1]), left=(owners[0],))
    assert look(later) == Look(moved=(owners[0],))


def test_who_becomes_active_while_moved_comes_back(
    engine: TroubledEngine, alice: tuple[int, set[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    look()
    later = timezone.now() + AFTERWARDS

    def meanwhile(body: dict[str, Any]) -> tuple[int, dict[str, Any]]:
        with every_tenant():
            OwnerActivity.objects.filter(pk=alice[0], active_at__lt=later).update(active_at=later)
        return 200, {}

    engine.tier = meanwhile
    assert look(later) == Look(promoted=(alice[0],), moved=(alice[0],))
    assert set(engine.near) == alice[1]


def test_owners_of_one_name_are_kept_apart_by_tenant(engine: TroubledEngine, people: People) -> None:
    with tenant_scope(people.tenant):
        mine = remember(people.tenant, "Alice lives in Lisbon.")
    with tenant_scope(people.other_tenant):
        theirs = remember(people.other_tenant, "Alice lives in Oslo.")
    later = timezone.now() + AFTERWARDS
    look(later)
    chat(people.other_tenant, "alice", at=later)
    assert look(later).promoted == (theirs[0],)
    assert engine.near == dict.fromkeys(theirs[1], str(people.other_tenant.pk))
    assert not set(engine.near) & mine[1]


def test_an_inactive_tenants_owners_are_not_promoted_but_moved(
    engine: TroubledEngine, tenant: Tenant, alice: tuple[int, set[str]]
) -> None:
    Tenant.objects.filter(pk=tenant.pk).update(is_active=False)
    assert look() == Look()
    assert look(timezone.now() + AFTERWARDS) == Look(moved=(alice[0],))


def test_an_owner_without_blobs_costs_the_engine_nothing(engine: TroubledEngine, tenant: Tenant) -> None:
    (fact,) = add_facts(tenant, "Alice lives in Lisbon.")
    assert look().promoted == (fact.owner_id,)
    assert look(timezone.now() + AFTERWARDS).moved == (fact.owner_id,)
    assert engine.tierings == []


def test_an_owner_that_was_deleted_is_nobodys(engine: TroubledEngine, alice: tuple[int, set[str]]) -> None:
    look()
    Owner.objects.filter(pk=alice[0]).delete()
    assert look(timezone.now() + AFTERWARDS) == Look()


def test_of_a_large_memory_the_newest_facts_come_up(tenant: Tenant) -> None:
    facts = add_facts(tenant, "The first.", "The second.", "The third.")
    keys = [encode_fact(fact).key for fact in facts]
    found = blobs_of_owner(tenant=tenant, owner_id=facts[0].owner_id, limit=2)
    assert [blob.key for blob in found] == [keys[2], keys[1]]


def test_many_blobs_are_moved_in_orders_the_engine_takes(engine: TroubledEngine) -> None:
    keys = [f"{number:064x}" for number in range(MAX_ITEMS + 1)]
    engine.near = dict.fromkeys(keys, "")
    blobs().engine.move(keys)
    assert engine.near == {}
