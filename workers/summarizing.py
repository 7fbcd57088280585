"""Making the summary that a call asked for."""

from functools import partial

from api.inputs import SummaryInput
from django.conf import settings
from facts.selectors import facts_matching
from facts.summaries import SummarySource, summary_fail, summary_source, summary_tell
from jobs.models import Job
from jobs.services import job_note, job_sign_of_life

from memory.keys import cache_salt
from workers.parts import summarizer
from workers.port import EngineBroke, EngineDown, EngineRefused
from workers.summarizer import Form, summarise_twice


def run_summary(job: Job) -> None:
    """Raises EngineDown, EngineBroke and EngineRefused, with the reason in the summary and the earlier text kept."""
    given = SummaryInput.checked(job.options["asked"])
    facts = facts_matching(tenant=job.tenant, condition=given["condition"], show_expired=given["show_expired"])
    source, summary_id = summary_source(facts), job.options["summary"]
    try:
        text = _told(job, source)
    except (EngineDown, EngineBroke, EngineRefused) as error:
        summary_fail(tenant=job.tenant, summary_id=summary_id, reason=str(error))
        raise
    summary_tell(tenant=job.tenant, summary_id=summary_id, source=source, text=text)
    job_note(job=job, done=1, total=1)


def _told(job: Job, source: SummarySource) -> str:
    salt = cache_salt(
        settings.SALT_SECRET, tenant=str(job.tenant_id), owner=source.digest, kind="extract", strategy="", epoch=0
    )
    return summarise_twice(
        summarizer, source.texts, Form(), cache_salt=salt, before_asking=partial(job_sign_of_life, job=job)
    )
