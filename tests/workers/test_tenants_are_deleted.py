"""A tenant that staff had deleted leaves no row and no blob, whoever is cut off or away meanwhile."""

from datetime import timedelta
from threading import Event as Signal
from threading import Thread
from typing import Any

import pytest
import redis
from api.models import KeptAnswer
from django.apps import apps
from django.db import connection, models
from django.utils import timezone
from facts.enqueue import DELETE_TENANT
from facts.exclusive import alone_with
from facts.models import ComingVector, Encoding, Fact, Owner, Profile, Summary
from facts.services import Message, encoding_start, encodings_mark_stale, extraction_request, feedback_set
from jobs.models import JobKind
from jobs.services import NewPart, job_create
from tenants import deletion
from tenants.deletion import tenant_delete, tenant_rows_count
from tenants.invitations import invitation_create
from tenants.models import Tenant
from tenants.scope import every_tenant, tenant_scope
from tenants.services import api_key_create, project_settings_update, quota_set, tenant_close
from usage.models import FactInjection, OwnerActivity, RollUp, TierHolding
from usage.services import RequestRecordData, request_records_write
from webhooks.services import webhook_create

from memory.store import BlobStore
from tests.factories import ALICE, People, add_facts
from tests.workers.helpers import finished, line_of, plan_of, ready, tasks_in, write_blob
from tests.workers.troubled_engine import TroubledEngine, accept_all
from workers.tenants import delete, resume

pytestmark = pytest.mark.django_db(transaction=True)


class Killed(BaseException):
    """The end of a worker process, which nothing catches."""


def owned() -> list[type[models.Model]]:
    return [model for model in apps.get_models() if any(field.related_model is Tenant for field in model._meta.fields)]


def fill(tenant: Tenant, store: BlobStore) -> set[str]:
    """A row of every kind; the keys of its blobs."""
    now = timezone.now()
    hook = {"url": "https://example.com/", "name": "hook", "event_types": ["memory_add"]}
    webhook_create(tenant=tenant, **hook, actor="test")  # type: ignore[arg-type]
    bees, cello, tea = add_facts(tenant, "Alice keeps bees.", "Alice plays the cello.", "Alice drinks tea.")
    Fact.objects.filter(pk=tea.pk).update(superseded_by=bees)
    ready(store, bees)
    stale = ready(store, cello, bees)
    encodings_mark_stale(tenant=tenant, ids=[stale.pk])
    pending, announced = encoding_start(fact_or_owner=tea, fingerprint="a", strategy="b"), line_of(plan_of(tea))
    Encoding.objects.filter(pk=pending.pk).update(key=announced.key)
    write_blob(store, announced)
    owner = Owner.objects.get(pk=bees.owner_id)
    feedback_set(fact=bees, verdict="POSITIVE", reason="", actor="test")
    extraction_request(tenant=tenant, scopes=ALICE, messages=[Message("user", "Alice skis.")])
    project_settings_update(tenant=tenant, changes={"decay": True}, actor="test")
    quota_set(tenant=tenant, limits={"facts": 1000}, actor="test")
    job_create(tenant=tenant, kind=JobKind.IMPORT, options={}, actor="test", parts=[NewPart("{}\n", 1)], total=1)
    api_key, _ = api_key_create(tenant=tenant, name="app")
    invitation_create(tenant=tenant, role="viewer", email="", actor="test")
    records = [RequestRecordData(tenant_id=tenant.pk, mode="inject", status=200, owner_name="alice")] * 5
    request_records_write(records)
    sums = dict.fromkeys(("requests", "refused", "failed", "prompt_tokens", "injected_tokens", "output_tokens"), 1)
    for row in (
        KeptAnswer(tenant=tenant, api_key=api_key, key="k", fingerprint="f"),
        ComingVector(tenant=tenant, fact=bees, embedding=b"", embedding_model="other", fact_hash=bees.hash),
        Profile(tenant=tenant, user_id="alice"),
        Summary(tenant=tenant, asked="a"),
        FactInjection(tenant=tenant, fact=bees, injected_at=now),
        OwnerActivity(tenant=tenant, owner=owner, active_at=now),
        TierHolding(tenant=tenant, owner=owner, tier="gpu", blobs=1, bytes=1),
        RollUp(tenant=tenant, seconds=60, start=now, mode="inject", ttft=b"", **sums),
    ):
        row.save()
    return set(Encoding.objects.exclude(key="").values_list("key", flat=True))


@pytest.fixture
def keys(people: People, store: BlobStore) -> set[str]:
    """Of the tenant whose deletion is ordered; the other tenant has a row of every kind too."""
    with tenant_scope(people.other_tenant):
        fill(people.other_tenant, store)
    with tenant_scope(people.tenant):
        keys = fill(people.tenant, store)
        assert set(Encoding.objects.values_list("state", flat=True)) == {"pending", "ready", "stale"}
    assert set(tenant_rows_count(tenant=people.tenant)) == {str(model._meta.verbose_name_plural) for model in owned()}
    tenant_close(tenant=people.tenant, actor="test")
    assert tenant_delete(tenant=people.tenant, actor="user:staff")
    return keys


def left(tenant: Tenant) -> dict[str, int]:
    """How many rows there are of it, in all tables."""
    with every_tenant():
        counts = {model.__name__: model._default_manager.filter(tenant=tenant).count() for model in owned()}
    return {name: count for name, count in counts.items() if count}


def is_there(tenant: Tenant) -> bool:
    return Tenant.objects.filter(pk=tenant.pk).exists()


def test_nothing_is_left_of_it_and_all_of_others(
    people: People, keys: set[str], store: BlobStore, engine: TroubledEngine, caplog: pytest.LogCaptureFixture
) -> None:
    others = left(people.other_tenant)
    with every_tenant():
        theirs = set(Encoding.objects.filter(tenant=people.other_tenant).exclude(key="").values_list("key", flat=True))
    finished(delete, people.tenant.pk)
    assert not is_there(people.tenant)
    assert left(people.tenant) == {}
    assert engine.dropped == keys
    assert not any(map(store.exists, keys))
    assert left(people.other_tenant) == others
    assert all(map(store.exists, theirs))
    assert f"tenant {people.tenant.pk}, Home, is deleted" in caplog.text


def test_it_goes_in_batches_and_on_where_it_was_cut_off(
    people: People, keys: set[str], store: BlobStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deletion, "BATCH", 2)
    before, looked, rows = sum(left(people.tenant).values()), 0, deletion._rows

    def dies_later(model: type[models.Model]) -> Any:
        nonlocal looked
        looked += 1
        if looked == 30:
            raise Killed
        return rows(model)

    with monkeypatch.context() as patch:
        patch.setattr(deletion, "_rows", dies_later)
        with pytest.raises(Killed):
            finished(delete, people.tenant.pk)
    assert is_there(people.tenant)
    assert 0 < sum(left(people.tenant).values()) < before
    assert not any(map(store.exists, keys))
    finished(delete, people.tenant.pk)
    assert not is_there(people.tenant)
    assert left(people.tenant) == {}


def test_an_engine_that_may_still_hold_its_kv_holds_it_up(
    people: People, keys: set[str], engine: TroubledEngine
) -> None:
    engine.drop = lambda body: (503, {})
    finished(delete, people.tenant.pk)
    with tenant_scope(people.tenant):
        assert set(Encoding.objects.exclude(key="").values_list("key", flat=True)) == keys
        assert Fact.objects.count() == 3
    engine.drop = accept_all
    finished(delete, people.tenant.pk)
    assert engine.dropped == keys
    assert not is_there(people.tenant)


def test_an_order_that_was_lost_is_found(people: People, keys: set[str], broker: redis.Redis) -> None:
    broker.flushdb()
    finished(resume)
    assert tasks_in(broker, "default") == [(DELETE_TENANT, [str(people.tenant.pk)])]
    finished(delete, people.tenant.pk)
    broker.flushdb()
    finished(resume)
    assert tasks_in(broker, "default") == []
    finished(delete, people.tenant.pk)  # sent twice


def test_two_workers_are_not_at_it_at_once(people: People, keys: set[str]) -> None:
    inside, leave = Signal(), Signal()

    def other_worker() -> None:
        with alone_with(people.tenant.pk) as is_alone:
            assert is_alone
            inside.set()
            leave.wait(60)
        connection.close()

    thread = Thread(target=other_worker)
    thread.start()
    assert inside.wait(60)
    before = left(people.tenant)
    finished(delete, people.tenant.pk)
    assert left(people.tenant) == before
    leave.set()
    thread.join()
    finished(delete, people.tenant.pk)
    assert not is_there(people.tenant)


def test_whose_deletion_nobody_ordered_stays(people: People, store: BlobStore) -> None:
    with tenant_scope(people.tenant):
        fill(people.tenant, store)
    before = left(people.tenant)
    finished(delete, people.tenant.pk)
    tenant_close(tenant=people.tenant, actor="test")
    finished(delete, people.tenant.pk)
    assert left(people.tenant) == {**before, "AuditEntry": before["AuditEntry"] + 1}


def test_what_is_written_of_it_late_keeps_nobody_elses_records_out(people: People, keys: set[str]) -> None:
    finished(delete, people.tenant.pk)
    late, other = (
        RequestRecordData(tenant_id=tenant.pk, mode="none", status=200, created_at=timezone.now() + timedelta(hours=1))
        for tenant in (people.tenant, people.other_tenant)
    )
    before = left(people.other_tenant)["RequestRecord"]
    assert request_records_write([late, other]) == 1
    assert left(people.other_tenant)["RequestRecord"] == before + 1
