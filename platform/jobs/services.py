"""Writes on jobs. One runner takes a job and goes on part by part; who falls silent is replaced."""

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from facts.enqueue import RUN_JOB, enqueue
from facts.models import Event, EventStatus
from facts.services import event_finish, event_open, event_start
from tenants.models import Tenant
from tenants.scope import every_tenant, tenant_scope

from jobs.models import Job, JobKind, JobPart, JobState
from jobs.selectors import part_body, part_rows, parts_failed

SILENCE = timedelta(minutes=6)  # a model may take five for one answer
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


@contextmanager
def part_held(*, job: Job, part: JobPart) -> Iterator[JobPart]:
    """The part as it is now; until the block ends nobody else takes rows out of it. Raises JobLostError."""
    with tenant_scope(job.tenant), transaction.atomic():
        now = JobPart.objects.select_for_update().filter(pk=part.pk, is_done=False).first()
        if now is None:
            raise JobLostError(f"part {part.pk} of job {job.pk} is done, or gone")
        yield now


def part_fail(*, job: Job, part: JobPart, report: Sequence[dict[str, Any]]) -> None:
    """Its rows are dealt with until the job is tried again, and their text is kept. Raises JobLostError."""
    with tenant_scope(job.tenant), transaction.atomic():
        _go_on(job, done=F("done") + part.rows, refused=F("refused") + len(report))
        JobPart.objects.filter(pk=part.pk).update(report=list(report))


def part_append(*, job: Job, number: int, body: str, rows: int) -> None:
    """Rows that an export wrote. Raises JobLostError."""
    with tenant_scope(job.tenant), transaction.atomic():
        _go_on(job, done=F("done") + rows)
        JobPart.objects.create(tenant=job.tenant, job=job, number=number, body=body, rows=rows, is_done=True)


def job_count(*, job: Job, total: int) -> None:
    """How many rows there are to deal with. Raises JobLostError."""
    with tenant_scope(job.tenant):
        _go_on(job, total=total)


def job_sign_of_life(*, job: Job) -> None:
    """Raises JobLostError."""
    with tenant_scope(job.tenant):
        _go_on(job)


def job_note(*, job: Job, done: int, total: int) -> None:
    """How far work without parts is. Raises JobLostError."""
    with tenant_scope(job.tenant):
        _go_on(job, done=done, total=total)


def job_finish(*, job: Job, error: str = "") -> None:
    """Raises JobLostError."""
    with tenant_scope(job.tenant), transaction.atomic():
        _go_on(job, state=JobState.FAILED if error else JobState.SUCCEEDED, error=error, runner=None)
        event_finish(Event.objects.get(pk=job.event_id), error=error)


@transaction.atomic
def job_cancel(*, job: Job, actor: str) -> bool:
    """Its runner stops at the next part; what is done stays done. False when it had ended already."""
    reason = f"called off by {actor}"
    with tenant_scope(job.tenant):
        still_open = Job.objects.filter(pk=job.pk, state__in=OPEN)
        ended = still_open.update(state=JobState.FAILED, error=reason, runner=None, updated_at=timezone.now())
        if ended:
            event_finish(Event.objects.get(pk=job.event_id), error=reason)
    return bool(ended)


@transaction.atomic
def job_retry(*, job: Job) -> bool:
    """It goes on where it ended, with the parts that failed. False when it has not failed."""
    with tenant_scope(job.tenant):
        failed = Job.objects.filter(pk=job.pk, state=JobState.FAILED)
        again = failed.update(state=JobState.PENDING, error="", runner=None, updated_at=timezone.now())
        if again:
            _take_up_failed_parts(job)
            ended = Event.objects.filter(pk=job.event_id, status=EventStatus.FAILED)
            ended.update(status=EventStatus.PENDING, error="", completed_at=None)
            transaction.on_commit(partial(_send, job.tenant_id, job.pk), robust=True)
    return bool(again)


def job_delete(*, job: Job) -> None:
    """With what it wrote."""
    with tenant_scope(job.tenant):
        Job.objects.filter(pk=job.pk).delete()


def exports_erase(*, tenant: Tenant) -> None:
    """They repeat texts that must go."""
    with tenant_scope(tenant):
        Job.objects.filter(kind=JobKind.EXPORT).delete()


@transaction.atomic
def imports_erase(*, tenant: Tenant, named: dict[str, str]) -> int:
    """Rows under these names that are not stored yet never are; how many."""
    with tenant_scope(tenant):
        gone = Counter[UUID]()
        left = JobPart.objects.select_for_update(of=("self",)).filter(job__kind=JobKind.IMPORT, is_done=False)
        for part in left.order_by("pk").iterator(chunk_size=1):
            rows = part_rows(part)
            kept = [row for row in rows if not named.items() <= row["scopes"].items()]
            if len(kept) < len(rows):
                gone[part.job_id] += len(rows) - len(kept)
                part.body, part.rows = part_body(kept), len(kept)
                part.save(update_fields=("body", "rows"))
        for job_id, count in gone.items():  # after the parts, which a runner holds when it counts
            Job.objects.filter(pk=job_id).update(total=F("total") - count)
    return gone.total()


def jobs_expire(*, now: datetime) -> int:
    with every_tenant():
        return Job.objects.filter(created_at__lt=now - KEPT).exclude(state__in=OPEN).delete()[0]


def jobs_resend(*, now: datetime) -> int:
    """Those that the broker lost, or whose runner fell silent; how many."""
    with every_tenant():
        silent = Job.objects.filter(state__in=OPEN, updated_at__lt=now - SILENCE, tenant__is_active=True)
        left = list(silent.values_list("tenant_id", "pk"))
    return sum(enqueue(RUN_JOB, tenant_id, job_id) for tenant_id, job_id in left)


def _take_up_failed_parts(job: Job) -> None:
    parts = parts_failed(job=job)
    rows, refused = sum(part.rows for part in parts), sum(len(part.report) for part in parts)
    Job.objects.filter(pk=job.pk).update(done=F("done") - rows, refused=F("refused") - refused)
    JobPart.objects.filter(pk__in=[part.pk for part in parts]).update(report=[])


def _go_on(job: Job, **changes: Any) -> None:
    mine = Job.objects.filter(pk=job.pk, state=JobState.RUNNING, runner=job.runner)
    if not mine.update(updated_at=timezone.now(), **changes):
        raise JobLostError(f"job {job.pk} is another runner's, or gone")


def _send(tenant_id: UUID, job_id: UUID) -> None:
    enqueue(RUN_JOB, tenant_id, job_id)
