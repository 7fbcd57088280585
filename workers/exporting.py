"""Writing memories out, the oldest first, a part at a time."""

from datetime import datetime
from uuid import UUID

from api.filters import parse_filters
from api.outputs import MemoryOutput
from django.db.models import Q, QuerySet
from facts.models import Fact
from facts.selectors import facts_matching
from jobs.models import Job
from jobs.selectors import last_part, part_rows
from jobs.services import job_count, part_append
from rest_framework.renderers import JSONRenderer

ROWS = 500


def run_export(job: Job) -> None:
    """Goes on behind the last row written. What was deleted in between is not written."""
    condition = parse_filters(job.options.get("filters") or {})
    matching = facts_matching(tenant=job.tenant, condition=condition, show_expired=True).defer("embedding")
    matching = matching.filter(created_at__lte=job.created_at)
    job_count(job=job, total=matching.count())
    number, behind = _written(job)
    while facts := list(_behind(matching, behind)[:ROWS]):
        number, behind = number + 1, (facts[-1].created_at, facts[-1].pk)
        part_append(job=job, number=number, body="".join(map(_line, facts)), rows=len(facts))


def _written(job: Job) -> tuple[int, tuple[datetime, UUID] | None]:
    """Number of the last part and the place of its last row."""
    part = last_part(job=job)
    if part is None:
        return 0, None
    last = part_rows(part)[-1]
    return part.number, (datetime.fromisoformat(last["created_at"]), UUID(last["id"]))


def _behind(facts: QuerySet[Fact], place: tuple[datetime, UUID] | None) -> QuerySet[Fact]:
    facts = facts.order_by("created_at", "pk")
    if place is None:
        return facts
    moment, fact_id = place
    return facts.filter(Q(created_at__gt=moment) | Q(created_at=moment, pk__gt=fact_id))


def _line(fact: Fact) -> str:
    """JSON escapes the line ends inside a text."""
    return JSONRenderer().render(MemoryOutput(fact).data).decode() + "\n"
