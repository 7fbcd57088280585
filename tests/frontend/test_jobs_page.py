"""Work behind the calls is seen with its reasons, tried again and called off."""

import pytest
from django.urls import reverse
from django.utils import timezone
from facts.models import Encoding, Event, Turn
from facts.services import (
    Message,
    encoding_mark_failed,
    encoding_start,
    extraction_fail,
    extraction_request,
    extraction_start,
)
from jobs.models import Job, JobKind
from jobs.selectors import parts_left
from jobs.services import JobLostError, NewPart, job_create, job_finish, job_take, part_finish
from tenants.models import AuditEntry, Tenant
from tenants.scope import tenant_scope

from tests.factories import ALICE, FINGERPRINT, STRATEGY, People, add_facts
from tests.frontend.conftest import Clients


def address(name: str, tenant: Tenant, *args: object) -> str:
    return reverse(f"dashboard:{name}", args=[tenant.slug, *args])


def given_up(tenant: Tenant, *texts: str) -> list[Encoding]:
    encodings = []
    for fact in add_facts(tenant, *texts):
        encoding = encoding_start(fact_or_owner=fact, fingerprint=FINGERPRINT, strategy=STRATEGY)
        encoding_mark_failed(encoding=encoding, error=f"no room for {fact.text}")
        encodings.append(encoding)
    return encodings


def asked_for(tenant: Tenant) -> Event:
    return extraction_request(tenant=tenant, scopes=ALICE, messages=[Message("user", "I keep bees.")])


def imported(tenant: Tenant) -> Job:
    parts = [NewPart('{"memory": "one"}\n', 1), NewPart('{"memory": "two"}\n', 1)]
    return job_create(tenant=tenant, kind=JobKind.IMPORT, options={}, actor="test", parts=parts, total=2)


def test_encodings_given_up_are_shown_and_tried_again(tenant: Tenant, clients: Clients) -> None:
    one, two, three = given_up(tenant, "Likes tea.", "Keeps bees.", "Lives in Bonn.")
    page = clients.viewer.get(address("jobs", tenant)).content.decode()
    assert "no room for Keeps bees." in page
    clients.admin.post(address("encodings-retry", tenant), {"encoding": two.pk})
    states = dict(Encoding.objects.values_list("pk", "state"))
    assert states == {one.pk: "failed", two.pk: "stale", three.pk: "failed"}
    clients.admin.post(address("encodings-retry", tenant))
    assert set(Encoding.objects.values_list("state", flat=True)) == {"stale"}
    counts = AuditEntry.objects.order_by("created_at").values_list("details__count", flat=True)
    assert list(counts) == [1, 2]


def test_a_failed_extraction_is_tried_again(tenant: Tenant, clients: Clients) -> None:
    event = asked_for(tenant)
    extraction = extraction_start(tenant=tenant, event_id=event.pk)
    assert extraction is not None
    extraction_fail(extraction=extraction, reason="the model is away")
    page = clients.viewer.get(address("jobs", tenant), {"kind": "extractions", "state": "FAILED"}).content.decode()
    assert "the model is away" in page
    clients.admin.post(address("extraction-job", tenant, event.pk), {"action": "retry"})
    event.refresh_from_db()
    assert event.status == "PENDING"


def test_an_extraction_under_way_is_called_off_and_its_turns_erased(tenant: Tenant, clients: Clients) -> None:
    event = asked_for(tenant)
    path = address("extraction-job", tenant, event.pk)
    refused = clients.admin.post(path, {"action": "retry"}, follow=True).content.decode()
    assert "Only an add that failed can be tried again." in refused
    clients.admin.post(path, {"action": "cancel"})
    event.refresh_from_db()
    assert (event.status, event.error) == ("FAILED", "called off by user:admin")
    assert not Turn.objects.exists()


def test_an_import_under_way_is_called_off_and_goes_on_later(tenant: Tenant, clients: Clients) -> None:
    job = imported(tenant)
    running = job_take(tenant=tenant, job_id=job.pk, now=timezone.now())
    assert running is not None
    first, second = parts_left(job=running)
    part_finish(job=running, part=first)
    path = address("job", tenant, job.pk)
    clients.admin.post(path, {"action": "cancel"})
    with pytest.raises(JobLostError):
        part_finish(job=running, part=second)
    page = clients.viewer.get(address("jobs", tenant), {"kind": "jobs"}).content.decode()
    assert "called off by user:admin" in page
    assert "1 of 2" in page
    assert Event.objects.get(pk=job.event_id).status == "FAILED"

    clients.admin.post(path, {"action": "retry"})
    again = job_take(tenant=tenant, job_id=job.pk, now=timezone.now())
    assert again is not None
    assert [part.pk for part in parts_left(job=again)] == [second.pk]
    part_finish(job=again, part=second)
    job_finish(job=again)
    assert Event.objects.get(pk=job.event_id).status == "SUCCEEDED"
    late = clients.admin.post(path, {"action": "cancel"}, follow=True).content.decode()
    assert "It had ended already." in late


def test_another_tenants_work_is_not_there(people: People, clients: Clients) -> None:
    with tenant_scope(people.other_tenant):
        (encoding,) = given_up(people.other_tenant, "Likes rum.")
    event, job = asked_for(people.other_tenant), imported(people.other_tenant)
    mine = people.tenant
    assert clients.owner.post(address("extraction-job", mine, event.pk)).status_code == 404
    assert clients.owner.post(address("job", mine, job.pk), {"action": "cancel"}).status_code == 404
    clients.owner.post(address("encodings-retry", mine), {"encoding": encoding.pk})
    with tenant_scope(people.other_tenant):
        assert Encoding.objects.get().state == "failed"
        assert Job.objects.get().state == "PENDING"


@pytest.mark.parametrize("kind", ["encodings", "extractions", "jobs", "nonsense"])
def test_each_list_says_when_it_is_empty(kind: str, tenant: Tenant, clients: Clients) -> None:
    answer = clients.viewer.get(address("jobs", tenant), {"kind": kind})
    assert (answer.status_code, 'class="empty"' in answer.content.decode()) == (200, True)
