"""Moving a tenant to the configured embedding model: searches compare the former one's vectors until all are there."""

from datetime import timedelta

from django.conf import settings
from django.utils import timezone
from facts.selectors import vectors_prepared
from facts.services import vectors_forget, vectors_prepare, vectors_switch
from jobs.models import Job, JobKind, JobState
from jobs.selectors import job_latest
from jobs.services import job_create, job_note
from tenants.models import Tenant

AT_ONCE = 200
PAUSE = timedelta(minutes=10)  # after a job that failed
ACTOR = "system"


class ModelReplaced(RuntimeError):
    """Another model is configured than when the job was made."""


def follow_embedding_model(tenant: Tenant) -> None:
    """Has the tenant moved, unless it is there, on its way, or could not be moved a moment ago."""
    model = settings.ENV.embedding_model
    if tenant.embedding_model == model:
        vectors_forget(tenant=tenant)
        return
    latest = job_latest(tenant=tenant, kind=JobKind.EMBEDDINGS)
    is_going = latest is not None and latest.state in (JobState.PENDING, JobState.RUNNING)
    failed = latest is not None and latest.state == JobState.FAILED and latest.options == {"model": model}
    if is_going or (failed and latest is not None and latest.updated_at > timezone.now() - PAUSE):
        return
    job_create(tenant=tenant, kind=JobKind.EMBEDDINGS, options={"model": model}, actor=ACTOR)


def run_embeddings(job: Job) -> None:
    """Goes on with what is not embedded yet, unless another job has moved the tenant. Raises EmbeddingFailed,
    ModelReplaced.
    """
    model = job.options["model"]
    while not _is_moved(job.tenant, model):
        if model != settings.ENV.embedding_model:
            raise ModelReplaced(f"the embedding model is {settings.ENV.embedding_model} by now, not {model}")
        prepared = vectors_prepared(tenant=job.tenant, model=model)
        job_note(job=job, done=prepared.done, total=prepared.total)
        if prepared.total - prepared.done >= AT_ONCE or not vectors_switch(tenant=job.tenant, model=model):
            vectors_prepare(tenant=job.tenant, model=model, limit=AT_ONCE)
    total = vectors_prepared(tenant=job.tenant, model=model).total
    job_note(job=job, done=total, total=total)


def _is_moved(tenant: Tenant, model: str) -> bool:
    tenant.refresh_from_db(fields=["embedding_model"])
    return tenant.embedding_model == model
