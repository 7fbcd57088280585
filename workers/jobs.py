"""Tasks that run jobs, and find those that were left."""

import logging
from collections.abc import Callable
from uuid import UUID

from config.celery import app
from django.db import DatabaseError
from django.utils import timezone
from facts.enqueue import RUN_JOB
from jobs.models import Job, JobKind
from jobs.services import JobLostError, job_finish, job_take, jobs_resend
from tenants.scope import tenant_scope
from tenants.selectors import tenant_by_id

from workers.embedding import run_embeddings
from workers.exporting import run_export
from workers.importing import run_import
from workers.profiling import run_profiles
from workers.summarizing import run_summary

RUNS: dict[str, Callable[[Job], None]] = {
    JobKind.EMBEDDINGS: run_embeddings,
    JobKind.EXPORT: run_export,
    JobKind.IMPORT: run_import,
    JobKind.PROFILES: run_profiles,
    JobKind.SUMMARY: run_summary,
}

logger = logging.getLogger(__name__)


@app.task(name=RUN_JOB)
def run(tenant_id: str, job_id: str) -> None:
    """What the database refuses for now is left to beat; any other error would come again, and ends the job."""
    tenant = tenant_by_id(tenant_id)
    job = job_take(tenant=tenant, job_id=UUID(job_id), now=timezone.now()) if tenant else None
    if tenant is None or job is None:
        return
    try:
        with tenant_scope(tenant):
            RUNS[job.kind](job)
        job_finish(job=job)
    except (JobLostError, DatabaseError) as error:
        logger.warning("job %s is left: %s", job_id, error)
    except Exception as error:
        logger.exception("job %s failed", job_id)
        job_finish(job=job, error=f"{type(error).__name__}: {error}")


@app.task(name="workers.jobs.resume")
def resume() -> None:
    jobs_resend(now=timezone.now())
