"""A job whose runner died goes on where it was cut off; one that fails says why."""

from datetime import timedelta
from typing import Any

import pytest
import redis
from django.utils import timezone
from facts.models import Event, Fact
from jobs.models import Job, JobPart
from jobs.services import JobLostError, job_finish, job_take, jobs_expire, part_append, part_finish
from tenants.models import Tenant
from tenants.scope import tenant_scope

from tests.api.conftest import Caller
from tests.api.working import work
from workers import exporting, importing
from workers.jobs import resume

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("broker")]


class Killed(BaseException):
    """The end of a worker process, which nothing catches."""


def dies_at_call(number: int, function: Any) -> Any:
    calls = 0

    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == number:
            raise Killed
        return function(*args, **kwargs)

    return call


def let_runner_fall_silent(tenant: Tenant) -> None:
    with tenant_scope(tenant):
        Job.objects.update(updated_at=timezone.now() - timedelta(minutes=7))


def the_job(tenant: Tenant) -> Job:
    with tenant_scope(tenant):
        return Job.objects.select_related("tenant").get()


def test_an_import_goes_on_with_the_parts_that_are_left(
    owner: Caller, tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"memory": f"Fact {number}", "user_id": "alice"} for number in range(450)]
    owner.post("/v1/imports/", {"memories": rows})
    with monkeypatch.context() as patch:
        patch.setattr(importing, "part_finish", dies_at_call(2, part_finish))
        with pytest.raises(Killed):
            work()
    assert (the_job(tenant).state, the_job(tenant).done) == ("RUNNING", 200)
    resume()
    assert work() == []
    let_runner_fall_silent(tenant)
    resume()
    work()
    job = the_job(tenant)
    assert (job.state, job.done, job.refused) == ("SUCCEEDED", 450, 0)
    with tenant_scope(tenant):
        assert Fact.objects.count() == 450


def test_an_export_goes_on_behind_its_last_row(owner: Caller, tenant: Tenant, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exporting, "ROWS", 3)
    owner.add(*(f"Fact {number}" for number in range(10)))
    answer = owner.post("/v1/exports/", {"schema": {"properties": {"memory": {}}}})[1]
    with monkeypatch.context() as patch:
        patch.setattr(exporting, "part_append", dies_at_call(3, part_append))
        with pytest.raises(Killed):
            work()
    let_runner_fall_silent(tenant)
    resume()
    work()
    written = owner.post("/v1/exports/get/", {"memory_export_id": answer["id"]})[1]["memories"]
    assert [memory["memory"] for memory in written] == [f"Fact {number}" for number in range(10)]


def test_a_runner_that_was_replaced_changes_nothing_any_more(owner: Caller, tenant: Tenant) -> None:
    owner.post("/v1/exports/", {"schema": {}})
    job_id = the_job(tenant).pk
    first = job_take(tenant=tenant, job_id=job_id, now=timezone.now())
    assert first is not None
    assert job_take(tenant=tenant, job_id=job_id, now=timezone.now()) is None
    second = job_take(tenant=tenant, job_id=job_id, now=timezone.now() + timedelta(minutes=7))
    assert second is not None
    with pytest.raises(JobLostError):
        job_finish(job=first)
    job_finish(job=second)


def test_a_job_that_the_broker_lost_is_found(owner: Caller, tenant: Tenant, broker: redis.Redis) -> None:
    owner.post("/v1/exports/", {"schema": {}})
    broker.flushdb()
    let_runner_fall_silent(tenant)
    resume()
    work()
    assert the_job(tenant).state == "SUCCEEDED"


def test_a_job_that_fails_says_why_in_its_event(owner: Caller, tenant: Tenant) -> None:
    answer = owner.post("/v1/imports/", {"memories": [{"memory": "x", "user_id": "alice"}]})[1]
    with tenant_scope(tenant):
        JobPart.objects.update(body="no JSON\n")
    work()
    event = owner.get(f"/v1/event/{answer['event_id']}/")[1]
    assert (event["status"], "JSONDecodeError" in event["error"]) == ("FAILED", True)
    assert the_job(tenant).state == "FAILED"


def test_finished_jobs_are_kept_for_a_week(owner: Caller, tenant: Tenant) -> None:
    owner.post("/v1/exports/", {"schema": {}})
    assert jobs_expire(now=timezone.now() + timedelta(days=8)) == 0
    work()
    assert jobs_expire(now=timezone.now() + timedelta(days=6)) == 0
    assert jobs_expire(now=timezone.now() + timedelta(days=8)) == 1
    with tenant_scope(tenant):
        assert Event.objects.count() == 1
