"""Making profiles, a user a part."""

from functools import partial

from django.conf import settings
from facts.models import ProfileStatus
from facts.profiles import ProfileSource, profile_fail, profile_source, profile_tell
from jobs.models import Job
from jobs.selectors import part_rows, parts_failed, parts_left
from jobs.services import job_sign_of_life, part_fail, part_finish
from tenants.selectors import project_settings

from memory.keys import cache_salt
from workers.parts import summarizer
from workers.port import EngineBroke, EngineDown, EngineRefused
from workers.summarizer import Form, summarise_twice

ATTEMPTS = 3  # where memory changes while it is read


class ProfilesFailed(RuntimeError):
    """Some were not made; the earlier ones stay."""


def run_profiles(job: Job) -> None:
    """Raises ProfilesFailed at the end, with the first reason."""
    for part in parts_left(job=job):
        user_id = part_rows(part)[0]["user_id"]
        try:
            status = _make(job, user_id)
        except (EngineDown, EngineBroke, EngineRefused) as error:
            profile_fail(tenant=job.tenant, user_id=user_id, reason=str(error))
            report = {"line": part.number, "reason": ProfileStatus.FAILED.value, "error": str(error)}
            part_fail(job=job, part=part, report=[report])
        else:
            refused = status != ProfileStatus.SUCCEEDED
            part_finish(job=job, part=part, report=[{"line": part.number, "reason": status.value}] if refused else [])
    if failed := parts_failed(job=job):
        first = failed[0].report[0]["error"]
        raise ProfilesFailed(f"{len(failed)} of {job.total} profiles could not be made: {first}")


def _make(job: Job, user_id: str) -> ProfileStatus:
    for _ in range(ATTEMPTS):
        source = profile_source(tenant=job.tenant, user_id=user_id)
        text = _told(job, source)
        status = profile_tell(tenant=job.tenant, user_id=user_id, source=source, text=text)
        if status is not None:
            return status
    raise EngineBroke("the memories change faster than a profile is made of them")


def _told(job: Job, source: ProfileSource) -> str:
    wanted = project_settings(tenant=job.tenant)
    form = Form(wanted.profile_instructions, wanted.profile_schema)
    beat = partial(job_sign_of_life, job=job)
    return summarise_twice(summarizer, source.texts, form, cache_salt=_salt(job, source), before_asking=beat)


def _salt(job: Job, source: ProfileSource) -> str:
    return cache_salt(
        settings.SALT_SECRET,
        tenant=str(job.tenant_id),
        owner=str(source.owner_id),
        kind="extract",
        strategy="",
        epoch=source.epoch,
    )
