"""Reads on jobs."""

import json
from collections.abc import AsyncIterator, Iterable
from itertools import islice
from typing import Any
from uuid import UUID

from asgiref.sync import sync_to_async
from django.db.models import QuerySet
from tenants.models import Tenant
from tenants.scope import tenant_scope

from jobs.models import Job, JobKind, JobPart, JobState


def job_get(*, tenant: Tenant, kind: JobKind, job_id: UUID) -> Job | None:
    with tenant_scope(tenant):
        return Job.objects.select_related("tenant").filter(pk=job_id, kind=kind).first()


def job_latest(*, tenant: Tenant, kind: JobKind) -> Job | None:
    with tenant_scope(tenant):
        return Job.objects.filter(kind=kind).order_by("-created_at", "-pk").first()


def export_latest(*, tenant: Tenant, filters: dict[str, Any] | None) -> Job | None:
    """The newest that did not fail, of those filters where some are given."""
    with tenant_scope(tenant):
        exports = Job.objects.filter(kind=JobKind.EXPORT).exclude(state=JobState.FAILED)
        if filters is not None:
            exports = exports.filter(options__filters=filters)
        return exports.select_related("tenant").order_by("-created_at", "-pk").first()


def parts_left(*, job: Job) -> list[JobPart]:
    """In their order, without those that failed."""
    with tenant_scope(job.tenant):
        return list(JobPart.objects.filter(job=job, is_done=False, report=[]).order_by("number"))


def parts_failed(*, job: Job) -> list[JobPart]:
    """In their order."""
    with tenant_scope(job.tenant):
        return list(JobPart.objects.filter(job=job, is_done=False).exclude(report=[]).order_by("number"))


def last_part(*, job: Job) -> JobPart | None:
    with tenant_scope(job.tenant):
        return JobPart.objects.filter(job=job).order_by("-number").first()


def part_rows(part: JobPart) -> list[dict[str, Any]]:
    """Split at line feeds alone: other line ends may stand inside a row."""
    return [json.loads(line) for line in part.body.split("\n") if line]


def part_body(rows: Iterable[dict[str, Any]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


async def job_lines(*, job: Job) -> AsyncIterator[str]:
    """What an export wrote, each line with its end; one part at a time is read.

    Raises ObjectDoesNotExist when it is deleted meanwhile, so that nobody takes what came for the whole.
    """
    for number in await sync_to_async(_part_numbers)(job):
        yield await sync_to_async(_part_body)(job, number)


def _part_numbers(job: Job) -> list[int]:
    with tenant_scope(job.tenant):
        parts = Job.objects.get(pk=job.pk).parts.order_by("number")
        return list(parts.values_list("number", flat=True))


def _part_body(job: Job, number: int) -> str:
    with tenant_scope(job.tenant):
        return JobPart.objects.values_list("body", flat=True).get(job=job, number=number)


def job_refusals(*, job: Job, limit: int = 1000) -> list[dict[str, Any]]:
    """What was refused and why, by line."""
    with tenant_scope(job.tenant):
        reports = JobPart.objects.filter(job=job).exclude(report=[]).values_list("report", flat=True)
        refusals = [refusal for report in reports for refusal in report]
    return list(islice(sorted(refusals, key=lambda refusal: int(refusal["line"])), limit))


def jobs_list(*, tenant: Tenant, state: str = "") -> QuerySet[Job]:
    """Newest first; of one state where it is given."""
    with tenant_scope(tenant):
        jobs = Job.objects.order_by("-created_at", "-pk")
        return jobs.filter(state=state) if state else jobs


def job_find(*, tenant: Tenant, job_id: UUID) -> Job | None:
    """Of whatever kind."""
    with tenant_scope(tenant):
        return Job.objects.select_related("tenant").filter(pk=job_id).first()
