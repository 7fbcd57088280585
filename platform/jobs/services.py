"""Writes on jobs. One runner takes a job and goes on part by part; who falls silent is replaced."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from facts.enqueue import RUN_JOB, enqueue
from facts.models import Event
from facts.services import event_finish, event_open, event_start
from tenants.models import Tenant
from tenants.scope import every_tenant, tenant_scope

from jobs.models import Job, JobKind, JobPart, JobState

SILENCE = timedelta(minutes=2)  # a part takes seconds
KEPT = timedelta(days=7)
OPEN = (JobState.PENDING, JobState.RUNNING)


@dataclass(frozen=True, slots=True)
class NewPart:
    body: str
    rows: int


class JobLostError(RuntimeError):
    """Another runner has taken the job over, or it is gone."""


@transaction.atomic
def job_create(
    *,
    tenant: Tenant,
    kind: JobKind,
    options: dict[str, Any],
    actor: str,
    parts: Sequence[NewPart] = (),
    total: int = 0,
    refusals: Sequence[dict[str, Any]] = (),
) -> Job:
    """Sent to the workers on commit. `refusals` are rows that are refused already, counted in `total`."""
    with tenant_scope(tenant):
        event = event_open(tenant=tenant, event_type=kind.upper())
        counts = {"total": total, "done": len(refusals), "refused": len(refusals)}
        job = Job.objects.create(tenant=tenant, kind=kind, options=options, actor=actor, event_id=event.pk, **counts)
        rows = [
            JobPart(tenant=tenant, job=job, number=number, body=part.body, rows=part.rows)
            for number, part in enumerate(parts, 1)
        ]
        if refusals:
            rows.append(JobPart(tenant=tenant, job=job, number=0, is_done=True, report=list(refusals)))
        JobPart.objects.bulk_create(rows)
    transaction.on_commit(partial(_send, tenant.pk, job.pk), robust=True)
    return job


def job_take(*, tenant: Tenant, job_id: UUID, now: datetime) -> Job | None:
    """The job for the caller alone; None when it is over, gone, or somebody works at it."""
    with tenant_scope(tenant), transaction.atomic():
        free = Q(state=JobState.PENDING) | Q(state=JobState.RUNNING, updated_at__lt=now - SILENCE)
        taken = Job.objects.filter(free, pk=job_id).update(state=JobState.RUNNING, runner=uuid4(), updated_at=now)
        if not taken:
            return None
        job = Job.objects.select_related("tenant").get(pk=job_id)
        event_start(Event.objects.get(pk=job.event_id))
        return job


def part_finish(*, job: Job, part: JobPart, report: Sequence[dict[str, Any]] = ()) -> None:
    """Its rows are dealt with and their text is kept here no longer. Raises JobLostError."""
    with tenant_scope(job.tenant), transaction.atomic():
        _go_on(job, done=F("done") + part.rows, refused=F("refused") + len(report))
        JobPart.objects.filter(pk=part.pk).update(is_done=True, body="", report=list(report))


def part_append(*, job: Job, number: int, body: str, rows: int) -> None:
    """Rows that an export wrote. Raises JobLostError."""
    with tenant_scope(job.tenant), transaction.atomic():
        _go_on(job, done=F("done") + rows)
        JobPart.objects.create(tenant=job.tenant, job=job, number=number, body=body, rows=rows, is_done=True)


def job_count(*, job: Job, total: int) -> None:
    """How many rows there are to deal with. Raises JobLostError."""
    with tenant_scope(job.tenant):
        _go_on(job, total=total)


def job_finish(*, job: Job, error: str = "") -> None:
    """Raises JobLostError."""
    with tenant_scope(job.tenant), transaction.atomic():
        _go_on(job, state=JobState.FAILED if error else JobState.SUCCEEDED, error=error, runner=None)
        event_finish(Event.objects.get(pk=job.event_id), error=error)


def job_delete(*, job: Job) -> None:
    """With what it wrote."""
    with tenant_scope(job.tenant):
        Job.objects.filter(pk=job.pk).delete()


def exports_erase(*, tenant: Tenant) -> None:
    """They repeat texts that must go."""
    with tenant_scope(tenant):
        Job.objects.filter(kind=JobKind.EXPORT).delete()


def jobs_expire(*, now: datetime) -> int:
    with every_tenant():
        return Job.objects.filter(created_at__lt=now - KEPT).exclude(state__in=OPEN).delete()[0]


def jobs_resend(*, now: datetime) -> int:
    """Those that the broker lost, or whose runner fell silent; how many."""
    with every_tenant():
        silent = Job.objects.filter(state__in=OPEN, updated_at__lt=now - SILENCE, tenant__is_active=True)
        left = list(silent.values_list("tenant_id", "pk"))
    return sum(enqueue(RUN_JOB, tenant_id, job_id) for tenant_id, job_id in left)


def _go_on(job: Job, **changes: Any) -> None:
    mine = Job.objects.filter(pk=job.pk, state=JobState.RUNNING, runner=job.runner)
    if not mine.update(updated_at=timezone.now(), **changes):
        raise JobLostError(f"job {job.pk} is another runner's, or gone")


def _send(tenant_id: UUID, job_id: UUID) -> None:
    enqueue(RUN_JOB, tenant_id, job_id)
