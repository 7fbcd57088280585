"""Making profiles, a user a part."""

from facts.models import ProfileStatus
from facts.profiles import profile_make
from jobs.models import Job
from jobs.selectors import part_rows, parts_left
from jobs.services import part_finish


def run_profiles(job: Job) -> None:
    for part in parts_left(job=job):
        status = profile_make(tenant=job.tenant, user_id=part_rows(part)[0]["user_id"])
        refused = status != ProfileStatus.SUCCEEDED
        part_finish(job=job, part=part, report=[{"line": part.number, "reason": status.value}] if refused else [])
