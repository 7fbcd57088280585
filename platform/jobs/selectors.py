"""Reads on jobs."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any
from uuid import UUID

from tenants.models import Tenant
from tenants.scope import tenant_scope

from jobs.models import Job, JobKind, JobPart, JobState


def job_get(*, tenant: Tenant, kind: JobKind, job_id: UUID) -> Job | None:
    with tenant_scope(tenant):
        return Job.objects.select_related("tenant").filter(pk=job_id, kind=kind).first()


def export_latest(*, tenant: Tenant, filters: dict[str, Any] | None) -> Job | None:
    """The newest that did not fail, of those filters where some are given."""
    with tenant_scope(tenant):
        exports = Job.objects.filter(kind=JobKind.EXPORT).exclude(state=JobState.FAILED)
        if filters is not None:
            exports = exports.filter(options__filters=filters)
        return exports.select_related("tenant").order_by("-created_at", "-pk").first()


def parts_left(*, job: Job) -> list[JobPart]:
    """In their order."""
    with tenant_scope(job.tenant):
        return list(JobPart.objects.filter(job=job, is_done=False).order_by("number"))


def last_part(*, job: Job) -> JobPart | None:
    with tenant_scope(job.tenant):
        return JobPart.objects.filter(job=job).order_by("-number").first()


def part_rows(part: JobPart) -> list[dict[str, Any]]:
    """Split at line feeds alone: other line ends may stand inside a row."""
    return [json.loads(line) for line in part.body.split("\n") if line]


def job_lines(*, job: Job) -> Iterator[str]:
    """What an export wrote, part by part, each line with its end."""
    with tenant_scope(job.tenant):
        bodies = JobPart.objects.filter(job=job).order_by("number").values_list("body", flat=True)
    return (body for body in bodies.iterator(chunk_size=10) if body)


def job_refusals(*, job: Job, limit: int = 1000) -> list[dict[str, Any]]:
    """What was refused and why, by line."""
    with tenant_scope(job.tenant):
        reports = JobPart.objects.filter(job=job).exclude(report=[]).values_list("report", flat=True)
        refusals = [refusal for report in reports for refusal in report]
    return list(islice(sorted(refusals, key=lambda refusal: int(refusal["line"])), limit))
