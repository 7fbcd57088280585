"""The KV store's page: what lies where and of whom, and moving it."""

from datetime import timedelta
from typing import Any

import pytest
import redis
from django.urls import reverse
from django.utils import timezone
from facts.models import Encoding, Fact, Owner
from facts.scopes import Scopes
from tenants.models import AuditEntry, Tenant
from tenants.scope import tenant_scope
from tenants.services import quota_set
from usage.models import OwnerActivity, Residence
from usage.tiers import TierHoldingData, TierSampleData, tier_holdings_replace, tier_samples_write

from tests.factories import People, add_facts, encode_fact
from tests.frontend.conftest import Clients, queries
from tests.workers.helpers import tasks_in
from tests.workers.troubled_engine import free_port

BOB = Scopes(user_id="bob")


def page_of(tenant: Tenant) -> str:
    return reverse("dashboard:kv", args=[tenant.slug])


def order_of(tenant: Tenant) -> str:
    return reverse("dashboard:kv-order", args=[tenant.slug])


def remember(tenant: Tenant, *texts: str, scopes: Scopes | None = None) -> Owner:
    """With a blob of 4096 bytes for each fact."""
    with tenant_scope(tenant):
        facts = add_facts(tenant, *texts, scopes=scopes or Scopes(user_id="alice"))
        for fact in facts:
            encode_fact(fact)
        return Owner.objects.get(pk=facts[0].owner_id)


def sample(minutes_ago: int, hits: int, found: int, lookups: int) -> None:
    counts = {"hits": hits, "found": found, "lookups": lookups, "filled": 60, "evicted": 3, "lost": 0}
    sizes = {"bytes": 2_000_000, "bytes_used": 500_000, "blobs": 7}
    tiers = [TierSampleData(tier=tier, **sizes, **counts) for tier in ("host", "disk")]
    tier_samples_write(tiers, time=timezone.now() - timedelta(minutes=minutes_ago))


def holds(owner: Owner, *, blobs: int) -> TierHoldingData:
    return TierHoldingData(tenant_id=owner.tenant_id, owner_id=owner.pk, tier="host", blobs=blobs, bytes=4096 * blobs)


@pytest.fixture(autouse=True)
def engine_is_away(settings: Any) -> None:
    settings.ENV = settings.ENV.model_copy(update={"engine_url": f"http://127.0.0.1:{free_port()}"})


@pytest.fixture
def alice(people: People) -> Owner:
    return remember(people.tenant, "Likes tea.", "Keeps bees.", "Lives in Bonn.")


def test_the_tiers_are_shown_with_what_was_found_there(people: People, alice: Owner, clients: Clients) -> None:
    sample(10, hits=0, found=0, lookups=0)
    sample(1, hits=7200, found=90, lookups=120)
    answer = clients.viewer.get(page_of(people.tenant), {"period": "1h"})
    host, disk = answer.context["tiers"]
    assert (host.name, host.flow.hit_rate, host.flow.evicted) == ("host", 0.75, 0)
    assert (host.reads, disk.held.bytes) == (2.0, 3 * 4096)
    text = answer.content.decode()
    assert "75%" in text
    assert "500 KB of 2.0 MB" in text
    assert "2.0/s" in text


def test_a_tenant_sees_its_own_users_and_its_limits(people: People, alice: Owner, clients: Clients) -> None:
    bob = remember(people.tenant, "Likes rum.", scopes=BOB)
    theirs = remember(people.other_tenant, "Likes gin.", scopes=Scopes(user_id="mallory"))
    tier_holdings_replace([holds(alice, blobs=2), holds(theirs, blobs=1)])
    quota_set(tenant=people.tenant, limits={"kv_disk_bytes": 100_000}, actor="test")
    sample(1, 0, 0, 0)
    answer = clients.viewer.get(page_of(people.tenant))
    rows = [(row.of.pk, [cell.bytes for cell in row.cells]) for row in answer.context["largest"]]
    assert rows == [(alice.pk, [8192, 12_288]), (bob.pk, [0, 4096])]
    text = answer.content.decode()
    assert "16.4 KB of 100 KB" in text
    assert reverse("dashboard:user", args=[people.tenant.slug, alice.pk]) in text
    assert f"{reverse('dashboard:facts', args=[people.tenant.slug])}?user=alice" in text
    assert "mallory" not in text


def test_staff_see_the_largest_tenants(people: People, alice: Owner, clients: Clients) -> None:
    theirs = remember(people.other_tenant, "Likes gin.")
    tier_holdings_replace([holds(alice, blobs=1), holds(theirs, blobs=1)])
    sample(1, 0, 0, 0)
    answer = clients.staff.get(reverse("dashboard:platform-kv"))
    rows = [(row.of, [cell.bytes for cell in row.cells]) for row in answer.context["largest"]]
    assert rows == [(people.tenant, [4096, 12_288]), (people.other_tenant, [4096, 4096])]
    assert page_of(people.other_tenant) in answer.content.decode()


def test_nothing_yet_is_told_with_what_to_do(people: People, clients: Clients) -> None:
    text = clients.viewer.get(page_of(people.tenant)).content.decode()
    assert "Nothing is known of the tiers yet" in text
    assert "No KV is stored" in text
    assert reverse("dashboard:connect", args=[people.tenant.slug]) in text


def test_samples_that_stay_away_are_told(people: People, clients: Clients) -> None:
    sample(30, 0, 0, 0)
    assert "the engine or the worker is away" in clients.viewer.get(page_of(people.tenant)).content.decode()
    sample(0, 0, 0, 0)
    assert "the engine or the worker is away" not in clients.viewer.get(page_of(people.tenant)).content.decode()


@pytest.mark.parametrize(
    ("action", "before", "after"),
    [("promote", Residence.DISK, Residence.WAITING), ("demote", Residence.MEMORY, Residence.LEAVING)],
)
def test_an_owner_is_moved(
    action: str, before: str, after: str, people: People, alice: Owner, clients: Clients
) -> None:
    long_ago = timezone.now() - timedelta(days=9)
    with tenant_scope(people.tenant):
        OwnerActivity.objects.create(owner=alice, tenant=people.tenant, active_at=long_ago, residence=before)
    answer = clients.admin.post(order_of(people.tenant), {"action": action, "owner": alice.pk}, follow=True)
    assert "alice: its KV" in answer.content.decode()
    assert "The engine cannot be asked now" in answer.content.decode()
    with tenant_scope(people.tenant):
        activity = OwnerActivity.objects.get(owner=alice)
        entry = AuditEntry.objects.get()
    assert activity.residence == after
    assert (activity.active_at > long_ago) == (action == "promote")
    assert (entry.actor, entry.action, entry.target) == ("user:admin", f"kv.{action}", "user alice")


def test_dropping_leaves_every_fact_and_no_kv(people: People, alice: Owner, clients: Clients) -> None:
    bob = remember(people.tenant, "Likes rum.", scopes=BOB)
    answer = clients.admin.post(
        order_of(people.tenant), {"action": "drop", "owner": alice.pk, "back": "user"}, follow=True
    )
    assert "3 blobs leave every tier" in answer.content.decode()
    assert answer.redirect_chain[0][0] == reverse("dashboard:user", args=[people.tenant.slug, alice.pk])
    with tenant_scope(people.tenant):
        assert set(Encoding.objects.filter(owner=alice).values_list("state", flat=True)) == {"stale"}
        assert Encoding.objects.get(owner=bob).state == "ready"
        assert Fact.objects.filter(owner=alice, status="active").count() == 3


@pytest.mark.django_db(transaction=True)
def test_all_of_a_tenant_is_dropped_by_the_worker(
    broker: redis.Redis, people: People, alice: Owner, clients: Clients
) -> None:
    broker.flushdb()
    answer = clients.staff.post(order_of(people.tenant), {"action": "drop", "back": "platform"}, follow=True)
    assert answer.redirect_chain[0][0] == reverse("dashboard:platform-kv")
    assert tasks_in(broker, "tiering") == [("workers.tiering.drop_tenants_kv", [str(people.tenant.pk)])]


def test_all_of_a_tenant_moves_and_nobody_elses(people: People, alice: Owner, clients: Clients) -> None:
    bob, theirs = remember(people.tenant, "Likes rum.", scopes=BOB), remember(people.other_tenant, "Likes gin.")
    clients.admin.post(order_of(people.tenant), {"action": "promote"})
    with tenant_scope(people.tenant):
        assert set(OwnerActivity.objects.values_list("owner_id", flat=True)) == {alice.pk, bob.pk}
    clients.admin.post(order_of(people.tenant), {"action": "demote"})
    with tenant_scope(people.tenant):
        assert set(OwnerActivity.objects.values_list("residence", flat=True)) == {Residence.LEAVING}
    with tenant_scope(people.other_tenant):
        assert not OwnerActivity.objects.filter(owner=theirs).exists()


def test_without_redis_a_tenants_drop_is_not_done_and_not_noted(
    people: People, alice: Owner, clients: Clients, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("facts.enqueue._paused_until", float("inf"))
    answer = clients.admin.post(order_of(people.tenant), {"action": "drop"}, follow=True)
    assert "nothing was done" in answer.content.decode()
    with tenant_scope(people.tenant):
        assert not AuditEntry.objects.exists()


@pytest.mark.parametrize("action", ["promote", "demote", "drop"])
def test_only_admins_order_and_nobody_reaches_another_tenants_owner(
    action: str, people: People, alice: Owner, clients: Clients
) -> None:
    theirs = remember(people.other_tenant, "Likes gin.")
    form = {"action": action, "owner": alice.pk}
    assert clients.viewer.post(order_of(people.tenant), form).status_code == 403
    assert clients.stranger.post(order_of(people.tenant), form).status_code == 404
    for owner in (theirs.pk, 10**30, "x", -1):
        assert clients.admin.post(order_of(people.tenant), {"action": action, "owner": owner}).status_code == 404
    with tenant_scope(people.tenant):
        assert not AuditEntry.objects.exists()
        assert not OwnerActivity.objects.exists()
        assert not Encoding.objects.filter(state="stale").exists()


def test_an_order_that_is_none_is_refused(people: People, clients: Clients) -> None:
    for action in ("", "erase", "__class__"):
        assert clients.admin.post(order_of(people.tenant), {"action": action}).status_code == 404


def test_a_viewer_sees_no_buttons(people: People, alice: Owner, clients: Clients) -> None:
    for client, shown in ((clients.viewer, False), (clients.admin, True)):
        page = client.get(page_of(people.tenant)).content.decode()
        assert ("Promote alice" in page) == shown
        assert ("Promote Home" in page) == shown
        user = client.get(reverse("dashboard:user", args=[people.tenant.slug, alice.pk])).content.decode()
        assert ("Promote alice" in user) == shown


def test_the_page_asks_the_same_few_questions_whatever_there_is(people: People, alice: Owner, clients: Clients) -> None:
    sample(5, 0, 0, 0)
    before = queries(clients.viewer, page_of(people.tenant))
    for number in range(15):
        remember(people.tenant, "Likes tea.", scopes=Scopes(user_id=f"user {number}"))
        sample(number, number, 0, 0)
    assert queries(clients.viewer, page_of(people.tenant)) == before <= 14
